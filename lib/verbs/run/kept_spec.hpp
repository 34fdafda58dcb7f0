// The file run.json in a run's folder: the spec and the overrides that the run was begun with, so that it can be
// resumed without giving them again.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "spec/sweep.hpp"

namespace chexbench::verbs {

struct RunSpec {
  std::string source;  // the path of the spec, for messages
  std::string text;    // what the file held then
  std::vector<std::string> overrides;
};

// Parses the spec with its overrides. @throws SpecError as spec::parse_spec()
spec::SweepSpec sweep_of(const RunSpec& run);

// Writes run.json into `folder` if there is none. Leaves out passwords in URLs, which only values that an override
// replaces can have. The spec must be UTF-8, as sweep_of() makes sure of.
// @throws OutputError if it cannot be written
void keep_spec(const RunSpec& run, const std::string& folder);

// Returns what `folder`/run.json holds, which rank 0 reads for all, because it may be on its host alone. Collective;
// the other ranks wait where rank 0 finds a fault.
// @throws SpecError on rank 0 if there is no such file, it cannot be read, or it is not what keep_spec() writes
RunSpec kept_spec(const std::string& folder, comm::Communicator& ranks);

// Says in which line the trials of `run` differ from those that the run in `folder` was begun with. Empty if they do
// not differ, or if the folder does not tell.
std::string difference_from_kept(const RunSpec& run, const std::string& folder);

// Removes the run.json of a run that has measured nothing, and `folder` if nothing else is in it. Ignores errors.
void forget_run(const std::string& folder);

}  // namespace chexbench::verbs
