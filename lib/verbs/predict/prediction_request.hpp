// From what `chexbench predict` is asked to the trainings that are reckoned: arms from a spec, what feeds them from
// reports, their accelerator from a profile, their network from wherever it is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "spec/sweep.hpp"
#include "verbs/predict/prediction.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {

inline constexpr int kMostRanks = 1024;

struct PredictionRequest {
  std::vector<spec::Trial> trials;             // of a spec; empty: the input trials of the reports
  std::vector<results::TrialResult> measured;  // of reports; those with engine none tell of the input
  std::string accelerator;                     // a profile; empty: that of the spec's engine emulated:PROFILE
  Scaling scaling = Scaling::weak;
  std::vector<int> ranks;                    // empty: 1, 2, 4, ... kMostRanks
  std::optional<double> input_images_per_s;  // of a rank, instead of `measured`
  std::optional<int> cores_per_rank;         // empty: as measured
  std::optional<double> storage_bytes_per_s;
  std::optional<double> alpha_s;  // empty: the spec's
  std::optional<double> beta_bytes_per_s;
  std::optional<double> launch_s;
  std::optional<LinkFit> link;      // what `chexbench comm` fitted, instead of alpha and beta
  std::vector<ScalingPoint> fit;    // fit alpha and beta to these, instead
  std::vector<ScalingPoint> check;  // known, and only compared with
  std::optional<int> for_ranks;     // the inverse question
  double efficiency = 0.95;
};

// Whether the pipeline shards behind the op that decodes: then each of N ranks decodes all images.
bool decodes_before_shard(const spec::PipelineSpec& pipeline);

// What feeds a rank, from trials of one arm with engine none: the one with the most ranks tells the rate of a core.
// @throws DataError where no trial has repeats and cores of its own
InputSide measured_input(const std::vector<const results::TrialResult*>& trials);

// @throws SpecError for options that contradict each other, an unknown profile, or one that lacks the network;
// DataError where the reports have no input trials, or none of the arm asked for
Prediction predict_all(const PredictionRequest& request);

}  // namespace chexbench::verbs
