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

// The progress of the measurement.
struct ProbeProgress {
  double passed_s = 0;
  double time_s = 0;                   // the time limit
  std::optional<double> images_per_s;  // of the current repeat
};

struct ProbeOptions {
  double time_s = 60;                                     // for measuring; listing a large data set is extra
  std::function<void(const ProbeProgress&)> on_progress;  // may be empty
  std::vector<std::string> gpus;                          // for fed_accelerators()
};

// The result, in short and as a run of engine none, whose first trial is the way in the answer.
struct Probe {
  ProbeResult result;
  results::Report report;
  std::exception_ptr interrupted;  // the InterruptedError that ended it early, or null
};

// Looks at the data set, and reads it in each way that there is for at most options.time_s, by bench's own loop: a
// short first repeat of each way determines the length of the others. Ranks share the work as in any run; only rank 0
// gets a result. Collective over the world. A world of one rank ends in time, as soon as its reads return; a larger one
// takes longer if its first repeat does. After a signal, the partial result has the measurements so far.
// @throws DataError, SpecError, DeviceError as dataset::report_index() and bench::run_trials(); InterruptedError before
// the first of them is done
Probe probe(const spec::DataSpec& data, comm::World& world, const ProbeOptions& options);

}  // namespace chexbench::verbs
