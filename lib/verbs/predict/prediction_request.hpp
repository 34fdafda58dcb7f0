// Translates the options of `chexbench predict` into the trainings that prediction.hpp models: arms come from a spec,
// input from reports, accelerators from a profile, and the network from options, `comm` or a fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "spec/sweep.hpp"
#include "verbs/predict/prediction.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {

inline constexpr int kMostRanks = 1024;  // the largest number of ranks predicted by default

// The options of the command and the contents of their files.
struct PredictionRequest {
  std::vector<spec::Trial> trials;             // trials of a spec; empty: the input trials of the reports
  std::vector<results::TrialResult> measured;  // trials of reports; those with engine none measure the input
  std::string accelerator;                     // name of a profile; empty: that of the spec's engine emulated:PROFILE
  std::optional<spec::Precision> precision;    // of the training; empty: that of the spec or the report
  Scaling scaling = Scaling::weak;
  std::vector<int> ranks;                     // empty: 1, 2, 4, ... kMostRanks
  std::optional<double> input_images_per_s;   // of one rank, given instead of `measured`
  std::optional<int> cores_per_rank;          // empty: as measured
  std::optional<double> storage_bytes_per_s;  // of all ranks together; empty: no limit
  std::optional<double> alpha_s;              // empty, like the next two: the value of the spec
  std::optional<double> beta_bytes_per_s;
  std::optional<double> launch_s;
  std::optional<std::string> comm_profile;  // empty, like the next three: the value of the spec
  std::optional<std::string> link;
  std::optional<std::string> host_link;
  std::optional<int> ranks_per_host;
  std::optional<double> step_spread;     // of a rank's computing (Training); empty: of the reports' real trainings
  std::optional<LinkFit> measured_link;  // fitted by `chexbench comm`, instead of alpha and beta
  std::vector<ScalingPoint> fit;         // known rates to which alpha and beta are fitted instead
  std::vector<ScalingPoint> check;       // known rates, only compared with the prediction
  std::optional<int> for_ranks;          // compute the needs of this number of ranks
  double efficiency = 0.95;              // for for_ranks; above 0, at most 1
};

// Returns the input of a rank, from at least one trial of one arm with engine none. The trial with the most ranks
// determines the rate of a core, because it includes the contention between ranks of one host.
// @throws DataError if in every trial the ranks shared cores, so that the rate of a core is unknown
InputSide measured_input(const std::vector<const results::TrialResult*>& trials);

// Predicts each arm of the request.
// @throws SpecError if options contradict each other, a profile is unknown or lacks the network, `fit` has too few
// points, or strong scaling has more ranks than images
// @throws DataError if the reports have no input trials, or none for a requested arm
Prediction predict_all(const PredictionRequest& request);

}  // namespace chexbench::verbs
