// What the readers of foreign formats share.
#pragma once

#include <cstddef>

namespace chexbench::verbs::foreign {

// The most steps, or waits, of one file: more than a training of weeks has. Hostile files must not take all memory.
inline constexpr std::size_t kMostSteps = 2'000'000;
inline constexpr double kMicrosecondsPerSecond = 1e6;
inline constexpr std::size_t kMostParts = 100'000;  // of a trace or run: threads, tensors, epochs
inline constexpr int kMostRank = 1'000'000;

}  // namespace chexbench::verbs::foreign
