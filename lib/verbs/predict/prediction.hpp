// Computes how fast a training would be on more ranks, from values that were measured, given or published:
//   images/s = min(decode, storage, training)
//   training = ranks x batch / (forward + max(backward, communication) + update + wait for the slowest rank)
// The step is that of the emulated engine (engine/step_plan.hpp). See README.md for all formulas, and a comparison of
// the model with published figures. All functions are pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "spec/profile.hpp"
#include "spec/trial_spec.hpp"
#include "verbs/comm/comm_result.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {

// Weak scaling gives each rank a batch; strong scaling shares one batch among all ranks.
enum class Scaling { weak, strong };

// The range of ranks over which a figure was measured or fitted, both ends included.
struct KnownRanks {
  int min = 1;
  int max = 1;

  bool covers(int ranks) const { return min <= ranks && ranks <= max; }
};

// The input of one rank. An empty figure sets no limit.
struct InputSide {
  std::optional<double> images_per_s_per_core;
  std::optional<double> images_per_s_per_rank;  // of a rank that decodes only its share
  std::optional<int> cores_per_rank;
  std::optional<double> bytes_per_image;              // read for each decoded image
  std::optional<double> storage_bytes_per_s;          // for all ranks together
  bool every_rank_decodes_all = false;                // if the pipeline shards after decoding
  std::optional<KnownRanks> known;                    // empty if the rate was given, not measured
  results::Grade grade = results::Grade::told_apart;  // how sure the measured rate is
  std::optional<int> measured_cores_per_rank;
  std::map<int, double> measured_images_per_s;  // of all ranks, by their number, with measured_cores_per_rank
};

// The network between the ranks.
struct Network {
  spec::CommSpec comm;  // links and software (spec/comm_profile.hpp), launch_s, the sizes of buckets and their type
  std::optional<KnownRanks> known;               // empty if the figures were given, not measured
  std::optional<std::uint64_t> known_min_bytes;  // the smallest bucket that the figures were fitted to
  std::optional<std::uint64_t> known_max_bytes;  // the largest one
};

// A training whose rate is predicted.
struct Training {
  spec::ModelSpec model;
  spec::TrainingSpec training;  // batch_size: of one rank in weak scaling, of all ranks in strong scaling
  spec::AcceleratorProfile profile;
  int outputs = kNihLabels;  // of the network, whose last layer's gradients are sent, too
  Scaling scaling = Scaling::weak;
  InputSide input;
  Network network;
  double step_spread =
      0;  // standard deviation / mean of the time that a rank computes in a step; its slowest rank ends it
};

// Returns the profile's entry for the batch of the slowest of `ranks` ranks (spec::find_entry()). Its batch_size
// differs if that batch is outside of the measured range.
// @throws SpecError if the profile lacks the network, or strong scaling has more ranks than images
spec::ProfileEntry speed_of(const Training& training, int ranks);

// Returns the time line of one step on `ranks` ranks, with modelled communication.
// @throws SpecError as speed_of(), if the profile's time already contains communication, or if the update is
// hierarchical without ranks_per_group
engine::StepPlan plan_step(const Training& training, int ranks);

// Returns the expected maximum of n independent standard normal values, n at least 1, by numerical integration.
double expected_maximum(int n);

// Returns one row for each of the numbers in `ranks`, which must be at least 1.
// @throws SpecError as plan_step()
std::vector<PredictionRow> predict(const Training& training, const std::vector<int>& ranks);

// Returns sentences about the assumptions, and on how the rows marked as extrapolated go beyond the known range.
// @throws SpecError as plan_step()
std::vector<std::string> prediction_notes(const Training& training, const std::vector<PredictionRow>& rows);

// Returns what `ranks` ranks need to reach `efficiency` (above 0, at most 1) times `ranks` times the rate of one rank
// that never waits: the cores and the storage for that rate, and the slowest link whose steps are short enough with the
// given alpha and launch. A need that is unknown or cannot be met is empty, with the reason in a note.
// @throws SpecError as plan_step()
Requirement require(const Training& training, int ranks, double efficiency);

}  // namespace chexbench::verbs
