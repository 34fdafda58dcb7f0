// Finds ways to make a trial's input faster, by trying edits of its spec, and says which it recommends.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/protocol.hpp"
#include "comm/communicator.hpp"
#include "report/text_table.hpp"
#include "results/record.hpp"
#include "spec/sweep.hpp"

namespace chexbench::verbs {

// One edit. Each ratio divides the images/s with the edit by the images/s before it.
struct AdviceTry {
  std::string edit;                     // "shard_first"
  std::string why;                      // a clause: "each rank then decodes its own images alone"
  bool saves_memory = false;            // such an edit is kept if it costs no images/s
  double predicted_ratio = 1;           // from the measured costs of the ops, before it was tried
  std::optional<measure::Ratio> ratio;  // over the rounds in which both were measured; empty if it was not tried
  results::Grade grade = results::Grade::told_apart;  // of the claim that the ratio is not 1
  double images_per_s = 0;                            // median with the edit
  bool kept = false;
  bool replaced = false;  // was kept, and then undone by a later edit
};

// All edits that were considered for one trial.
struct Advice {
  std::string trial;
  int ranks = 1;
  bool emulated = false;
  double images_per_s_before = 0;                     // median of the unchanged trial, in the rounds of `ratio`
  double images_per_s_after = 0;                      // median with all edits that were kept
  std::optional<measure::Ratio> ratio;                // after / before, alternated; empty if no edit was kept
  std::string verdict;                                // a sentence about the unchanged trial, or empty
  std::vector<AdviceTry> tries;                       // those tried in their order, then the others by predicted gain
  results::Grade grade = results::Grade::told_apart;  // of the claim that `ratio` is not 1
  bool withdrawn = false;    // all edits together could not be shown to be faster, so the spec is unchanged
  bool out_of_time = false;  // the budget ended before all promising edits were tried
  double try_s = 0;          // about how long the measurements of one try take
};

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
// @throws SpecError if the trial has no input (data.format ready) or trains over epochs
// @throws DataError, DeviceError, SpecError, InterruptedError as bench::plan_report() and bench::run_trials()
AdviceResult advise(const spec::Trial& trial, comm::World& world, const AdviceOptions& options);

// The largest loss that an edit may cause if it saves memory.
inline constexpr double kToleratedLoss = 0.05;

// Returns whether the edit is worth keeping: the trial with it must be told apart from the one before (analysis/grade)
// and be faster, or, if it saves memory, the 95 % interval must exclude a loss of kToleratedLoss. An edit that was not
// tried is not kept, nor one left undecided by a busy machine or too few repeats.
bool is_kept(const AdviceTry& attempt);

// Returns plain text for people: the resulting ratio, and a table of the edits with those that were kept. If it is
// `brief`, the reason of an edit is shown only if it was kept, edits that were not tried share a line, and the verdict
// on the trial is left out. The table is at most `width` wide where possible.
std::string advice_table(const Advice& advice, const report::LineWidth& width = {}, bool brief = false);
// Returns one JSON object for programs; undefined values are null.
std::string advice_json(const Advice& advice);

}  // namespace chexbench::verbs
