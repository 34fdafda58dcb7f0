// Determines what limits the images/s of a trial: in one word, and in one sentence with its numbers.
#pragma once

#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr double kFullCores = 0.85;  // cores_busy_share + cpu_wait_share; from here on cores are too few
inline constexpr double kSlowRank = 1.15;   // own time of a rank / median of the other ranks'
inline constexpr double kCommunicationShare = 0.10;  // of the time, exposed
inline constexpr double kUploadShare = 0.10;         // of the time
inline constexpr double kLinearEfficiency = 0.95;    // from here on scaling is linear, and links are no limit

// A rank is called slow if it was slow in at least this share and this number of the repeats: fewer may be chance.
inline constexpr double kSlowRepeatsShare = 0.75;
inline constexpr int kFewestSlowRepeats = 3;

// What limits a trial. The first of these that applies is used:
//   slow_rank      a rank takes longer than the others, which wait for it in the all-reduce, and this costs more of the
//                  step than missing batches do
//   cpu            no batch was ready, and the cores that make batches were busy, or used by others
//   input          no batch was ready for another reason; Figures::wait_op names the op
//   machine        other processes used so much of the cores that they may have caused one of the above
//   sample         one of the above may come from a small data set or from too few steps: waits are at the starts of
//                  epochs, or there are none because the steps drained buffers filled earlier
//   communication  the all-reduce took time not overlapped with backward
//   upload         the copy of batches to the device took time
//   compute        none of these: the accelerator computes
// An unmeasured trial has no limit, nor does one of engine none whose ranks are equally fast.
struct Limit {
  results::LimitedBy by = results::LimitedBy::nothing;
  double wait_share = 0;   // as judged: of steady steps if epochs' starts would mislead
  int rank = -1;           // the slow rank, even if another limit applies; -1 if there is none
  double rank_factor = 0;  // its own time / the median of the others'
  // For machine: the effect that other processes may have caused, such as "waits for batches", and its share of the
  // time.
  const char* suspected = "";
  double suspected_share = 0;
};

// Finds the limit of a trial. `figures` must be those of the trial, but `limit` may still be empty. Deterministic.
Limit find_limit(const results::TrialResult& trial, const results::Figures& figures);

// Returns whether the cores that make the trial's batches were busy, or used by others.
bool cores_are_missing(const results::Figures& figures);

// Returns why a measured trial waits for its batches, as a clause: "the 2 cores of a rank are full (97 % busy): map
// (decode) 18 %", or the ops alone; "" if it is unknown.
std::string wait_cause(const results::TrialResult& trial, const results::Figures& figures);

// Returns the sentences about what limits a measured trial, the limit itself first. Their kinds are slow_rank,
// cpu_starved, starved, communication, upload, fed, busy_machine, sample_too_small and epoch_starts. A slow rank and
// missing batches are both reported if both apply. Empty for engine none with equally fast ranks, and for a trial that
// computes but waits for more than results::kFedShare of its time.
std::vector<results::Finding> verdicts(const results::TrialResult& trial, const results::Figures& figures);

}  // namespace chexbench::analysis
