// Tables for other programs, as CSV (RFC 4180, but lines end with LF). Column names carry the units, undefined values
// are empty fields, and booleans are true and false. README.md describes the columns. Each row of trials.csv,
// repeats.csv, steps.csv and ops.csv says whether its engine is emulated.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns trials.csv with one row per trial. New columns are only added at the end, so that column numbers stay valid;
// after them, each key in which trials differ has a column (swept_keys.hpp).
std::string trials_csv(const results::Report& report);

// Returns repeats.csv with one row per repeat, disturbed ones included.
std::string repeats_csv(const results::Report& report);

// Returns steps.csv with one row per measured step of each rank.
std::string steps_csv(const results::Report& report);

// Returns ops.csv with one row per op of each repeat, summed over the ranks.
std::string ops_csv(const results::Report& report);

// Returns epochs.csv with one row per epoch of a training. It is empty, without a header, if no trial trained over
// epochs.
std::string epochs_csv(const results::Report& report);
// Returns aurocs.csv with one row per label of each epoch. It is empty in the same case.
std::string aurocs_csv(const results::Report& report);

// Returns gpu.csv with one row per sample of each rank's GPU. It is empty, without a header, if no GPU was sampled.
std::string gpu_csv(const results::Report& report);

}  // namespace chexbench::report
