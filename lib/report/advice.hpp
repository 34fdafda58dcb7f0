// What `chexbench advise` tried, and what it would change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// One edit. Ratios are of images/s with the edit to images/s before it.
struct AdviceTry {
  std::string edit;                     // "shard_first"
  std::string why;                      // a clause, "each rank then decodes its own images alone"
  bool saves_memory = false;            // kept where it costs no images/s
  double predicted_ratio = 1;           // from what ops cost, before it was tried
  std::optional<measure::Ratio> ratio;  // over rounds in which both were measured; empty where it was not tried
  double images_per_s = 0;              // with the edit, median
  bool kept = false;
};

struct Advice {
  std::string trial;
  int ranks = 1;
  bool emulated = false;
  double images_per_s_before = 0;       // median, as it was
  double images_per_s_after = 0;        // with all that was kept
  std::optional<measure::Ratio> ratio;  // after to before, measured in turn; empty where nothing was kept
  std::string verdict;                  // of the trial as it was: a sentence, or empty
  std::vector<AdviceTry> tries;         // those tried in their order, then the others by what they promise
  bool out_of_time = false;             // the budget ended before all that promised something was tried
};

// Whether the edit is worth keeping: a gain beyond the noise; where it saves memory, no loss beyond it. Without an
// interval (fewer than five rounds) 5 % count as noise.
bool is_kept(const AdviceTry& attempt);

// Plain text for people: a table of edits, what was kept, the ratio.
std::string advice_table(const Advice& advice);
std::string advice_json(const Advice& advice);

}  // namespace chexbench::report
