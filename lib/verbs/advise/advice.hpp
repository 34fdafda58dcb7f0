// The result of `chexbench advise`: which edits of a spec it tried, and which of them it recommends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::verbs {

// One edit. Each ratio divides the images/s with the edit by the images/s before it.
struct AdviceTry {
  std::string edit;                     // "shard_first"
  std::string why;                      // a clause: "each rank then decodes its own images alone"
  bool saves_memory = false;            // such an edit is kept if it costs no images/s
  double predicted_ratio = 1;           // from the measured costs of the ops, before it was tried
  std::optional<measure::Ratio> ratio;  // over the rounds in which both were measured; empty if it was not tried
  double images_per_s = 0;              // median with the edit
  bool kept = false;
};

// All edits that were considered for one trial.
struct Advice {
  std::string trial;
  int ranks = 1;
  bool emulated = false;
  double images_per_s_before = 0;       // median of the unchanged trial
  double images_per_s_after = 0;        // median with all edits that were kept
  std::optional<measure::Ratio> ratio;  // after / before, measured in turn; empty if no edit was kept
  std::string verdict;                  // a sentence about the unchanged trial, or empty
  std::vector<AdviceTry> tries;         // those tried in their order, then the others by predicted gain
  bool out_of_time = false;             // the budget ended before all promising edits were tried
};

// Returns whether the edit is worth keeping: its gain must exceed the noise, or, if it saves memory, its loss must not
// exceed the noise. The 95 % interval defines the noise; without one (fewer than five rounds) 5 % count as noise.
// An edit that was not tried is not kept.
bool is_kept(const AdviceTry& attempt);

// Returns plain text for people: a table of the edits, which of them were kept, and the resulting ratio.
std::string advice_table(const Advice& advice);
// Returns one JSON object for programs; undefined values are null.
std::string advice_json(const Advice& advice);

}  // namespace chexbench::verbs
