// The file of `--metrics`: the progress of a run, for monitoring, in OpenMetrics format.
#pragma once

#include <optional>
#include <string>

#include "bench/progress.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// The progress of a run.
struct RunStanding {
  std::optional<bench::RunState> now;  // the current repeat; empty before the first step and at the end
  std::size_t repeats_done = 0;
  std::size_t repeats_total = 0;
  bool done = false;
  bool failed = false;
  double unix_s = 0;  // the time of this text
};

// Returns the progress and, for each trial with known values, its images/s and wait share: those of its repeats, as in
// its report, or, before there are any, those of the current repeat. All metrics are gauges, which both OpenMetrics and
// the older text format of Prometheus support. Takes microseconds for each trial. Pure.
std::string metrics_text(const results::Report& report, const RunStanding& standing);

// Keeps a file up to date. Not thread-safe.
class MetricsFile {
 public:
  // Writes the file for the first time. The report must outlive this object. @throws OutputError if that fails, or the
  // file is a pipe or a socket, where each update would wait for a reader
  MetricsFile(std::string path, const results::Report& report);
  // Replaces the file as a whole, at most every 5 s. Failures are warned of once and never end the run.
  void update(const bench::RunState& state);
  // Replaces it for the last time.
  void close(bool failed);

 private:
  void write() const;
  void try_to_write();

  const std::string path_;
  const results::Report& report_;
  RunStanding standing_;
  double written_s_ = 0;
  bool warned_ = false;
};

}  // namespace chexbench::verbs
