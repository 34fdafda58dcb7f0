// The file run.json in a run's folder: the run's original spec and overrides, so that it can be resumed without
// repeating them.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "spec/sweep.hpp"

namespace chexbench::verbs {

struct RunSpec {
  std::string source;  // the path of the spec, for messages
  std::string text;    // the file's contents at that time
  std::vector<std::string> overrides;
};

// Parses the spec with its overrides. @throws SpecError as spec::parse_spec()
spec::SweepSpec sweep_of(const RunSpec& run);

// Writes run.json into `folder` if there is none. Leaves out passwords in URLs, which are only possible in overridden
// values. The spec must be UTF-8, which sweep_of() checks.
// @throws OutputError if it cannot be written
void keep_spec(const RunSpec& run, const std::string& folder);

// Returns the contents of `folder`/run.json, which rank 0 reads for all, because it may be only on its host.
// Collective; the other ranks wait if rank 0 finds a fault.
// @throws SpecError on rank 0 if there is no such file, it cannot be read, or keep_spec() did not write it
RunSpec kept_spec(const std::string& folder, comm::Communicator& ranks);

// Returns the line in which the trials of `run` differ from the original ones of the run in `folder`. Empty if they are
// equal, or if the folder has no record.
std::string difference_from_kept(const RunSpec& run, const std::string& folder);

// Removes the run.json of a run without measurements, and `folder` if it is then empty. Ignores errors.
void forget_run(const std::string& folder);

}  // namespace chexbench::verbs
