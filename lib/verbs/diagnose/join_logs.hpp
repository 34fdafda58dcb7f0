// Joins several logs: of the ranks of a training, or of one rank that wrote several files.
#pragma once

#include <string>
#include <vector>

#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs {

struct NamedLog {
  std::string name;  // for messages
  StepLog log;
};

// Returns the steps of all logs. Logs that name no rank are ranks 0, 1, ... in their order, but those recorded one
// after the other belong to one rank, in the order of time, with a note: those of one process and, if their times are
// since 1970, those of several. A rank that several logs name must not be in two at the same time. Logs that do not
// count images have `batch` for each step; if it is 0, all logs count steps.
// @throws DataError if two logs have steps of one rank at the same time, or do not have times
// @throws SpecError if some logs count images, and others need `batch`
StepLog join_logs(std::vector<NamedLog> logs, int batch);

}  // namespace chexbench::verbs
