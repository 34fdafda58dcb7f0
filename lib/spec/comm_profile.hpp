// Links by name, and communication profiles: what the software of a training adds to the time that its links take.
// engine/step_plan.hpp applies both. configs/communication has the profiles, with the source of each figure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// A link's rate in one direction, from its standard or its maker.
struct NamedLink {
  std::string_view name;        // as in comm.link
  double alpha_s = 0;           // latency of a message
  double beta_bytes_per_s = 0;  // bandwidth
  std::string_view title;       // what it is
  std::string_view source;      // where both figures come from
};

// Returns all links, the fastest first.
std::span<const NamedLink> links();

// @throws SpecError if the name is unknown; the message names the nearest one
const NamedLink& find_link(const std::string& name);

// What software adds to the links.
struct CommProfile {
  std::string description;                 // one line: which software
  double tensor_s = 0;                     // of a step for each tensor of gradients; backward does not hide it
  double line_rate_share = 1;              // of the bandwidth between hosts that the software reaches
  std::optional<double> host_bytes_per_s;  // of averages in host memory; empty: gradients stay on the GPUs
  // Each host sums its gradients, sends every host's server its part, and reads the result; backward does not hide it.
  bool servers_on_hosts = false;
  std::map<std::string, std::string> sources;  // of each term that the file has, by its key
};

// Returns a built-in profile by its name, or that of a file by its path (which contains a '/' or ends in ".json").
// @throws SpecError if the name is unknown (with the nearest one), or if the file cannot be read or is not a profile
CommProfile load_comm_profile(const std::string& name_or_path);

// Parses the JSON of a profile: a description, and terms with a value and a source each. `where` names the text in
// errors.
// @throws SpecError if it is not a valid profile; the message names the JSON path and the expected value
CommProfile parse_comm_profile(const std::string& text, const std::string& where);

// Rejects links and built-in profiles that do not exist, and what contradicts other keys of `comm`. A profile's file is
// not read. `set_ranks_per_host` is the remedy where the number of ranks on a host is missing.
// @throws SpecError that names the keys and how to mend them
void check_links(const CommSpec& comm, std::string_view set_ranks_per_host = "set comm.ranks_per_host");

// Rejects a profile with servers on hosts if `comm` does not say which ranks share one.
// @throws SpecError with the remedy
void check_hosts(const CommProfile& profile, const CommSpec& comm,
                 std::string_view set_ranks_per_host = "set comm.ranks_per_host");

}  // namespace chexbench::spec
