// What bounds the images/s of a trial: one word, and one sentence with its numbers.
#pragma once

#include <string>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr double kFullCores = 0.85;  // of the cores' time, used or waited for, from which they are missing
inline constexpr double kSlowRank = 1.15;   // a rank's own time a step against the other ranks' median
inline constexpr double kCommunicationShare = 0.10;  // exposed
inline constexpr double kUploadShare = 0.10;
inline constexpr double kLinearEfficiency = 0.95;  // from which scaling is called linear, and links are no limit

// The words, in the order in which they are tried:
//   slow_rank      a rank takes longer than the others, which wait for it in the all-reduce
//   cpu            no batch was ready, and the cores that make them were full, or not free
//   input          no batch was ready for another reason: the op that waits are booked to
//   communication  the all-reduce as far as backward did not hide it
//   upload
//   compute        none of these: the accelerator computes
// Empty for a trial that was not measured, or that trains nothing (engine none) on ranks that are alike.
struct Limit {
  std::string word;
  int rank = -1;           // the slow one
  double rank_factor = 0;  // its own time against the others'
};

// `figures` without `limit`. Deterministic.
Limit find_limit(const results::TrialResult& trial, const results::Figures& figures);

// Of a trial that was measured. Kinds: slow_rank, cpu_starved, starved, communication, upload, fed; empty where nothing
// is to be said.
results::Finding verdict(const results::TrialResult& trial, const results::Figures& figures);

}  // namespace chexbench::analysis
