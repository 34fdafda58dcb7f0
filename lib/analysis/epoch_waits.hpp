// Separates the waits at the starts of epochs, where a shuffle fills its buffer again, from those of the steps between
// them. Such starts are far more frequent in a sample than in the whole data set, so only steady steps predict its
// rate. See README.md for the reasons for the rules.
#pragma once

#include <cstdint>
#include <optional>

#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr std::uint64_t kWholeSetImages = 112'120;  // of NIH ChestX-ray14

// The number of steady steps, over all typical repeats, needed to know their wait if decoded images are shuffled. Other
// pipelines need one, because their steps differ little.
inline constexpr int kFewestSteadySteps = 8;

// The waits of the steps of a trial's typical repeats. Steps are counted per rank, because all ranks start epochs
// together.
struct EpochWaits {
  double images = 0;           // of an epoch, for one rank
  double shuffled_images = 0;  // of them, those in the pipeline's shuffles before it repeats
  int steps = 0;
  int starts = 0;               // steps that begin an epoch
  double start_share = 0;       // of the time: extra wait of the starts over other steps
  double start_wait_s = 0;      // the same in seconds, mean over the starts
  double other_wait_share = 0;  // of the time of all other steps
  int steady_steps = 0;         // steps that begin no epoch and are not fed by a shuffle that no longer fills
  std::optional<double> steady_wait_share;    // of their time; empty if there are too few
  std::optional<double> steady_images_per_s;  // over all ranks
};

// Returns std::nullopt for a trial without such a structure: ready-made batches, a training over epochs, unknown
// images, or a pipeline that shuffles nothing before it repeats.
std::optional<EpochWaits> epoch_waits(const results::TrialResult& trial);

// Returns whether the sample's epoch starts cause significant waits that a large data set would not have.
bool matters(const EpochWaits& waits);

// Returns the images/s over whole epochs if the data set of the trial had `images` images, from the steady rate, which
// must be known, and the wait at an epoch's start.
double images_per_s_over(const results::TrialResult& trial, const EpochWaits& waits, double images);

}  // namespace chexbench::analysis
