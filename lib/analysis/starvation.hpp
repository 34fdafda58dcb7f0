// The sentences that say whether an accelerator waits for its input. The verdict of a trial uses them, and so does
// `chexbench diagnose` for trainings of other programs.
#pragma once

#include <optional>
#include <string>

namespace chexbench::analysis {

// An accelerator starves if it waits for batches for at least this share of its time.
inline constexpr double kStarvedShare = 0.10;

// The numbers of one sentence.
struct Waiting {
  std::string name;  // of the trial or training, the subject of the sentence
  double wait_share = 0;
  double images_per_s = 0;
  double images_per_s_without_wait = 0;
  std::string why;                   // ", because of map (decode) 18 %", or empty
  std::optional<double> busy_share;  // empty if it was not measured
  std::string unit = "images";       // what the rates count
};

// Returns the sentence for a wait_share of kStarvedShare or more, with `why`.
std::string starved_sentence(const Waiting& waiting);
// Returns the sentence for an accelerator that hardly waits, with `busy_share`.
std::string fed_sentence(const Waiting& waiting);

// Formats images/s with one decimal below 100 and none from there: "3.8" for a CPU that trains, "812" for a pipeline.
std::string rate(double images_per_s);

// Formats a share as "38 %".
std::string whole_percent(double share);

}  // namespace chexbench::analysis
