// Finds ways to make a trial's input faster, by trying edits of its spec.
#pragma once

#include <set>
#include <string>

#include "bench/protocol.hpp"
#include "comm/communicator.hpp"
#include "spec/sweep.hpp"
#include "verbs/advise/advice.hpp"

namespace chexbench::verbs {

// How edits are chosen and measured.
struct AdviceOptions {
  double budget_s = 300;          // no edit is started after this time
  std::set<std::string> without;  // names of edits that are not tried
  bench::RunOptions run;          // must have no journal
};

// The advice, and the spec that follows it.
struct AdviceResult {
  Advice advice;         // on rank 0 only
  spec::TrialSpec best;  // the trial with all edits that were kept; the same on every rank
};

// Measures the trial, and then one edit after another, the most promising first. Each edit is alternated with the best
// trial so far, and is kept if is_kept() returns true. An edit is measured with at least five repeats, to get an
// interval, and with up to three times that number if the interval leaves its gain open. Collective over the world.
// @throws SpecError if the trial has no input (data.format synthetic) or trains over epochs
// @throws DataError, DeviceError, SpecError, InterruptedError as bench::plan_report() and bench::run_trials()
AdviceResult advise(const spec::Trial& trial, comm::World& world, const AdviceOptions& options);

}  // namespace chexbench::verbs
