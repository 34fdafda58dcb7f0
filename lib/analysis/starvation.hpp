// The sentences on an accelerator that waits for its input, or does not: of trials, and of trainings of other programs.
#pragma once

#include <optional>
#include <string>

namespace chexbench::analysis {

inline constexpr double kStarvedShare = 0.10;  // of the time an accelerator waits for batches

struct Waiting {
  std::string name;  // whose accelerator
  double wait_share = 0;
  double images_per_s = 0;
  double images_per_s_without_wait = 0;
  std::string why;                   // ", because of map (decode) 18 %", or empty
  std::optional<double> busy_share;  // where it was measured
};

std::string starved_sentence(const Waiting& waiting);
std::string fed_sentence(const Waiting& waiting);

// "3.8" for a CPU that trains, "812" for a pipeline.
std::string rate(double images_per_s);

}  // namespace chexbench::analysis
