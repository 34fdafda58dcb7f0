// Tables for other programs, RFC 4180 with LF: units in the column names, undefined is empty, booleans are true and
// false, a trial of an emulated engine says so in its row.
#pragma once

#include <string>

#include "report/record.hpp"

namespace chexbench::report {

// trials.csv: one row a trial. Columns are only ever added at the end.
std::string trials_csv(const Report& report);

// steps.csv: one row a measured step of a rank.
std::string steps_csv(const Report& report);

// ops.csv: one row an op of a repeat, summed over its ranks.
std::string ops_csv(const Report& report);

// epochs.csv: one row an epoch of a training; aurocs.csv: one row a finding of an epoch. Empty, without even a header,
// where nothing was trained over epochs.
std::string epochs_csv(const Report& report);
std::string aurocs_csv(const Report& report);

// gpu.csv: one row a sample of a rank's GPU. Empty, without even a header, where no GPU was sampled.
std::string gpu_csv(const Report& report);

}  // namespace chexbench::report
