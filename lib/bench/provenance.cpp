#include "bench/provenance.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "comm/libraries.hpp"
#include "comm/texts.hpp"
#include "engine/registry.hpp"
#include "image/opencv_decoder.hpp"
#include "measure/cpu_layout.hpp"

namespace chexbench::bench {
namespace {

// One line for each field; none of them contains a line end.
std::string host_to_text(const results::HostState& state) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", state.host, state.cpu, state.kernel, state.governors, state.load_before);
}

results::HostState host_from_text(const std::string& text) {
  std::istringstream lines(text);
  results::HostState state;
  std::string load;
  for (std::string* field : {&state.host, &state.cpu, &state.kernel, &state.governors, &load})
    std::getline(lines, *field);
  state.load_before = std::strtod(load.c_str(), nullptr);  // reads "nan", too
  return state;
}

}  // namespace

results::HostState describe_host(const measure::Machine& machine) {
  const measure::CpuLayout cpus = measure::probe_cpu_layout();
  results::HostState state{.host = machine.host, .cpu = machine.cpu, .kernel = machine.kernel};
  for (const auto& [governor, count] : cpus.governors)
    state.governors += fmt::format("{}{} ({})", state.governors.empty() ? "" : ", ", governor, count);
  state.load_before = cpus.load.value_or(results::kNotKnown);
  return state;
}

std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host) {
  std::vector<results::HostState> hosts;
  for (const std::string& text : comm::all_gather(
           world.communicator(), first_of_host ? host_to_text(describe_host(measure::probe_machine())) : "")) {
    if (!text.empty()) hosts.push_back(host_from_text(text));
  }
  return hosts;
}

std::vector<measure::LibraryVersion> loaded_libraries(const comm::World& world) {
  std::vector<measure::LibraryVersion> libraries = comm::libraries(world);
  for (const engine::EngineKind* kind : engine::engine_kinds()) {
    if (kind->libraries == nullptr) continue;
    for (measure::LibraryVersion& library : kind->libraries()) libraries.push_back(std::move(library));
  }
  libraries.push_back({"OpenCV", image::loaded_opencv_version()});
  return libraries;
}

}  // namespace chexbench::bench
