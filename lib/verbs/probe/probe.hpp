// Measures how fast this machine delivers the images of a data set, for `chexbench DIR`.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "verbs/probe/probe_result.hpp"

namespace chexbench::verbs {

// How far the measuring is.
struct ProbeProgress {
  double passed_s = 0;
  double time_s = 0;                   // after which it ends at the latest
  std::optional<double> images_per_s;  // of the repeat that is under way
};

struct ProbeOptions {
  double time_s = 60;  // for measuring; reading the lists of a large data set comes before that
  std::function<void(const ProbeProgress&)> on_progress;  // may be empty
  std::vector<std::string> gpus;                          // as of fed_accelerators()
};

// What was measured, in short and as a run of engine none, whose first trial is the way that is answered for.
struct Probe {
  ProbeResult result;
  results::Report report;
  std::exception_ptr interrupted;  // the InterruptedError that ended the measuring early; null if none did
};

// Looks at the data set, and reads it in each way that there is for at most options.time_s, by bench's own loop: a
// first short repeat of each way says how long the others may be. Ranks share the work as in any run; only rank 0 gets
// a result. Collective over the world. A world of one rank ends in time, as soon as its reads return; a larger one
// takes longer if its first repeat does. What a signal ends early is a partial result, which has what was measured
// until then.
// @throws DataError, SpecError, DeviceError as dataset::report_index() and bench::run_trials(); InterruptedError before
// the first of them is done
Probe probe(const spec::DataSpec& data, comm::World& world, const ProbeOptions& options);

}  // namespace chexbench::verbs
