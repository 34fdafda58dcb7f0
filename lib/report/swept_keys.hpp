// Finds the keys of the spec in which the trials of a run differ, so that each gets a column.
#pragma once

#include <string>
#include <vector>

#include "report/csv_table.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// Returns the dotted names of the keys that have more than one value among the trials: scalar keys in the order of the
// spec ("comm.update", "training.accumulate_steps"), then parameters of ops ("pipeline.map.parallel_calls",
// "pipeline.shuffle[1].buffer") that differ between trials whose pipelines have the same name. A trial over
// ready-made batches does not count for keys of the input. "pipeline", "engine", "ranks" and "cores_per_rank" are left
// out: every run has columns with these names.
std::vector<std::string> swept_keys(const std::vector<results::TrialResult>& trials);

// Returns `columns` and, after them, those of the keys in which the trials of the report differ. Their descriptions
// come from the table of keys or of ops.
std::vector<Column> with_swept_keys(std::vector<Column> columns, const results::Report& report);

// Returns the value of such a key as text; "" if the trial's pipeline lacks the op, or if it is a key of the
// input and the trial's batches are ready-made.
std::string setting_of(const spec::TrialSpec& experiment, const std::string& key);

}  // namespace chexbench::report
