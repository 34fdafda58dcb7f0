// Finds out what makes a trial's input faster, by trying.
#pragma once

#include <set>
#include <string>

#include "bench/protocol.hpp"
#include "comm/communicator.hpp"
#include "spec/sweep.hpp"
#include "verbs/advise/advice.hpp"

namespace chexbench::verbs {

struct AdviceOptions {
  double budget_s = 300;          // no edit is begun afterwards
  std::set<std::string> without;  // names of edits that are not to be tried
  bench::RunOptions run;          // without a journal
};

struct AdviceResult {
  Advice advice;
  spec::Experiment best;  // the trial with what was kept
};

// Measures the trial, then one edit after another, the most promising first, each in turn with the best so far, and
// keeps what gains. At least five repeats each, so that there are intervals, and up to three times as many where they
// do not tell. Collective over the world; the result is rank 0's.
// @throws as run_trials()
AdviceResult advise(const spec::Trial& trial, comm::World& world, const AdviceOptions& options);

}  // namespace chexbench::verbs
