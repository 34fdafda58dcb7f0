// Which op waits for batches are booked to.
#pragma once

#include <string>

#include "report/record.hpp"

namespace chexbench::report {

// Empty where no op stands out, or no pipeline ran.
struct WaitCause {
  std::string op;
  std::string part;  // of an op that decodes: "read", "parse", "decode", "resize" or "other", whichever took longest
};

// The op nearest the sink whose threads worked for longer than they waited for the op before them (its input was not
// empty) or for room behind them (its output was), summed over the trial's repeats and ranks.
WaitCause wait_cause(const TrialResult& trial);

}  // namespace chexbench::report
