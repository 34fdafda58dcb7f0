// The number of repeats needed for a 95 % interval, and the wording when there are fewer.
#pragma once

namespace chexbench::spec {

inline constexpr int kRepeatsForInterval = 5;  // see measure/statistics.hpp for the reason
inline constexpr const char* kTooFew = "fewer than five";
inline constexpr const char* kTooFewRepeats = "fewer than five repeats";
inline constexpr const char* kTooFewRepeatsCount = "fewer than five repeats count";
inline constexpr const char* kNoScalingInterval =
    "scaling_efficiency is, on one rank, or where fewer than five repeats count";
inline constexpr const char* kNoInterval = "no interval: fewer than five repeats";

}  // namespace chexbench::spec
