// How fast a training would be on more ranks: pure arithmetic over what was measured, given or published.
//   images/s = min(decode, storage, training), training = ranks x batch / (forward + max(backward, communication) +
//   update), the step as the emulated engine takes it (engine/step_plan.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"
#include "spec/profile.hpp"
#include "verbs/comm/link_fit.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {

enum class Scaling { weak, strong };

// The range that a figure was measured or fitted over, ends included.
struct KnownRanks {
  int min = 1;
  int max = 1;

  bool covers(int ranks) const { return min <= ranks && ranks <= max; }
};

// What feeds one rank. Every figure that is empty is no limit.
struct InputSide {
  std::optional<double> images_per_s_per_core;
  std::optional<double> images_per_s_per_rank;  // of a rank that decodes its share alone
  std::optional<int> cores_per_rank;
  std::optional<double> bytes_per_image;      // read for each image decoded
  std::optional<double> storage_bytes_per_s;  // of all ranks together
  bool every_rank_decodes_all = false;        // the pipeline shards after it decodes
  std::optional<KnownRanks> known;            // empty: given, not measured
  std::optional<int> measured_cores_per_rank;
};

struct Network {
  spec::CommSpec comm;  // alpha_s, beta_bytes_per_s, launch_s, and the buckets' sizes
  std::optional<KnownRanks> known;
  std::optional<std::uint64_t> known_min_bytes;  // a bucket's
  std::optional<std::uint64_t> known_max_bytes;
};

struct Training {
  spec::ModelSpec model;
  spec::TrainingSpec training;  // batch_size: of one rank in weak scaling, of all ranks in strong scaling
  spec::AcceleratorProfile profile;
  Scaling scaling = Scaling::weak;
  InputSide input;
  Network network;
};

// The profile's time for the batch of the slowest of `ranks` ranks. @throws SpecError where it has none, or strong
// scaling has more ranks than images
spec::ProfileEntry speed_of(const Training& training, int ranks);

// One step of `ranks` ranks. @throws SpecError as speed_of(); where the profile's time contains communication already
engine::StepPlan plan_step(const Training& training, int ranks);

// A row for each of `ranks` (from 1 on). @throws SpecError as plan_step()
std::vector<PredictionRow> predict(const Training& training, const std::vector<int>& ranks);

// Sentences: what is assumed, and in what the rows marked as extrapolated go beyond what is known.
std::vector<std::string> prediction_notes(const Training& training, const std::vector<PredictionRow>& rows);

// What `ranks` ranks need to train `efficiency` (above 0, at most 1) x ranks x one rank that never waits. Cores and
// storage for that rate, and the slowest link with which the step is short enough, alpha and launch staying.
Requirement require(const Training& training, int ranks, double efficiency);

}  // namespace chexbench::verbs
