// The per-step log of a training that chexbench does not run: CSV with the columns wait_s (seconds that the step waited
// for its batch), step_s (its wall seconds, wait included), images, and, where there are several, rank and epoch. The
// columns may come in any order, and others are passed over. scripts/hooks writes such logs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chexbench::verbs {

struct LoggedStep {
  int rank = 0;
  int epoch = 0;
  double wait_s = 0;
  double step_s = 0;
  double images = 0;
};

// The steps of a log in its order. A last line without newline that lacks fields was torn, and is left out. `name`
// stands in messages. @throws DataError with line and column: a column is missing, a value is none that can have been
// measured, there is no step
std::vector<LoggedStep> step_log_from_csv(std::string_view text, const std::string& name);

}  // namespace chexbench::verbs
