// Formats the result for other tools: Bencher, Google Benchmark's compare.py, DLIO's, and those that read MLPerf's
// logs.
#pragma once

#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// A trial that was measured completely, under the name by which such tools compare runs.
struct FinishedTrial {
  std::string name;                             // unique in the report; the same in each run of the same trials
  const results::TrialResult* trial = nullptr;  // into the report
};

// Returns the completely measured trials in their order, as "EXPERIMENT/TRIAL" with the mark of emulated ones
// (results::mark_of); a second trial with the same name gets " #2". Logs a warning for each trial that is left out: it
// has no repeat, or a repeat without images, or the run was interrupted before all of its repeats. A trial ended by
// measure.max_seconds is kept, unless the run was also interrupted, because the two cases then look the same.
// @throws DataError if none is left
std::vector<FinishedTrial> finished_trials(const results::Report& report);

// Returns the result for Bencher (bencher.dev), which tracks results by commit and reports regressions, in Bencher
// Metric Format: a JSON object with a member for each finished trial: `throughput`, images/s with the ends of its 95 %
// interval, if any, as lower_value and upper_value, and `wait-share`, from 0 to 1, if the trial has one.
// @throws as finished_trials()
std::string bencher_json(const analysis::Evaluation& evaluation);

// Returns the JSON of Google Benchmark's --benchmark_format=json. Each finished trial is a benchmark with a row for
// each repeat that counts (results::counted_repeats) and, for two or more, rows for mean, median, stddev and cv.
// real_time and cpu_time are nanoseconds per image, because compare.py prints whole numbers: 1e9 / images/s, and the
// CPU time of all ranks / images trained. items_per_second is images/s.
// @throws as finished_trials()
std::string google_benchmark_json(const results::Report& report);

// Returns the one finished trial with an emulated accelerator as the summary.json of DLIO 2.0.0, the input of MLPerf
// Storage's reports: an epoch there is a repeat that counts here. See apps/chexbench/reference/README.md for the
// meaning of members that are not obvious.
// @throws DataError if there is no such trial, or more than one; the message names them
std::string dlio_summary_json(const results::Report& report);

// Returns log lines of MLPerf Training: one line per event, ordered by time, in the format of
// github.com/mlcommons/logging: ":::MLLOG " and a JSON object. Each repeat is a separate run, from run_start to
// run_stop. The metadata of each line contain its trial and repeat, and whether its engine is emulated.
std::string mllog_text(const results::Report& report);

}  // namespace chexbench::report
