// The per-step logs of a training that another program runs: of its ranks, or of one rank that wrote several files. A
// log is CSV with the columns wait_s (seconds that the step waited for its batch), step_s (its wall seconds, including
// the wait), images, and optionally rank and epoch. The columns may come in any order, and other columns are ignored.
// scripts/hooks writes such logs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::verbs {

// One line of the log.
struct LoggedStep {
  int rank = 0;
  int epoch = 0;
  double wait_s = 0;
  double step_s = 0;
  double images = 0;
  std::size_t steps = 1;  // more than 1: this is the mean of that many, from a summary
};

// When a log was recorded, in seconds: since 1970, or since the host started.
struct LogSpan {
  double begin_s = 0;
  double end_s = 0;
};

// A log of any program.
struct StepLog {
  std::vector<LoggedStep> steps;
  bool counts_images = true;       // false: `images` is unknown, and 0
  bool names_ranks = true;         // false: the rank is unknown, and all steps have rank 0
  std::optional<LogSpan> span;     // of its steps, if known
  std::string process;             // the process that wrote it, if known: a number or name on its machine
  bool least_waits = false;        // true: the waits were not measured, and are lower bounds
  std::vector<std::string> notes;  // sentences on how it was read, for readers of the diagnosis
};

// Returns the steps in the order of the log. Leaves out a torn last line: one without a newline that lacks fields.
// Messages begin with `name`.
// @throws DataError, with line and column, if the header lacks a required column, a line has too many or too few
// fields, a value cannot have been measured (wait_s must be at most step_s), or there is no step
std::vector<LoggedStep> step_log_from_csv(std::string_view text, const std::string& name);

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
