// What `chexbench predict` reckons: images/s by the number of ranks, and what limits it there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/verdict.hpp"

namespace chexbench::verbs {

// Each limit in images/s of all ranks, as if nothing else limited; empty where nothing is known of it.
struct PredictionRow {
  int ranks = 1;
  int local_batch = 0;  // images of one rank's step
  double images_per_s = 0;
  double efficiency = 0;  // images_per_s / (ranks x images_per_s at 1 rank)
  std::string limit;      // decode, storage, compute, network
  std::optional<double> decode_images_per_s;
  std::optional<double> storage_images_per_s;
  double compute_images_per_s = 0;           // no communication
  double network_images_per_s = 0;           // compute, and the communication that backward does not hide
  double exposed_communication_share = 0;    // of a step that waits for no input
  std::optional<double> known_images_per_s;  // what a real training reached there
  bool fitted = false;                       // the network was fitted to it
  bool extrapolated = false;                 // beyond what was measured or fitted; the notes say in what

  bool linear() const { return efficiency >= analysis::kLinearEfficiency; }
};

// What so many ranks need to reach `efficiency` x ranks x one rank that never waits.
struct Requirement {
  int ranks = 0;
  double efficiency = 0;
  double images_per_s = 0;
  std::optional<int> cores_per_rank;
  std::optional<double> storage_bytes_per_s;  // of all ranks
  std::optional<double> link_bytes_per_s;     // beta
  std::vector<std::string> notes;             // why one of them is empty
};

// One training: a network on an accelerator, fed by a pipeline.
struct PredictionArm {
  std::string name;         // "optimized png, densenet121 256x256 f32, batch 64 on v100"
  std::string accelerator;  // in words
  std::string source;       // of its speed
  std::string scaling;      // weak, strong
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
  double launch_s = 0;
  std::optional<double> fit_rms_error;                // where the network was fitted to trainings
  std::optional<double> input_images_per_s_per_rank;  // of a rank that decodes its share alone
  std::optional<int> cores_per_rank;
  std::vector<PredictionRow> rows;
  std::optional<Requirement> requirement;
  std::vector<std::string> notes;  // assumptions, and in what rows are extrapolated
};

struct Prediction {
  std::string chexbench_version;
  std::vector<PredictionArm> arms;
};

// For people, one table an arm; for programs, one object.
std::string prediction_table(const Prediction& prediction);
std::string prediction_json(const Prediction& prediction);

}  // namespace chexbench::verbs
