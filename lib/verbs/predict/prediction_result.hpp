// The result of `chexbench predict`: images/s by the number of ranks, and what limits them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/verdict.hpp"
#include "report/text_table.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// The prediction for one number of ranks. Each limit is in images/s of all ranks, as if there were no other limit; it
// is empty if it is unknown.
struct PredictionRow {
  int ranks = 1;
  int local_batch = 0;  // images in a batch of the slowest rank
  double images_per_s = 0;
  double efficiency = 0;  // images_per_s / (ranks x images_per_s at 1 rank)
  std::string limit;      // decode, storage, compute, network
  std::optional<double> decode_images_per_s;
  bool decode_measured = false;  // decode_images_per_s was measured on this many ranks, not computed
  std::optional<double> storage_images_per_s;
  double compute_images_per_s = 0;           // without communication
  double network_images_per_s = 0;           // with the exposed communication: not overlapped with backward
  double exposed_communication_share = 0;    // of a step that does not wait for input
  std::optional<double> known_images_per_s;  // the rate of a real training on this many ranks
  bool fitted = false;                       // the network was fitted to known_images_per_s
  bool step_time_computed = false;           // by a roofline, not measured anywhere
  bool extrapolated = false;                 // beyond the measured or fitted range; see the arm's notes

  // Reached share of the accelerators' rate. Without it, an input that starves one rank as much as all of them would
  // look like perfect scaling.
  double accelerator_share() const { return images_per_s / compute_images_per_s; }
  // Share of the time that the accelerators wait for input.
  double wait_share() const { return 1 - images_per_s / network_images_per_s; }
  bool starves() const {
    return (limit == "decode" || limit == "storage") && accelerator_share() < analysis::kLinearEfficiency;
  }
  bool linear() const {
    return efficiency >= analysis::kLinearEfficiency && accelerator_share() >= analysis::kLinearEfficiency;
  }
};

// What `ranks` ranks need to reach `efficiency` times `ranks` times the rate of one rank that never waits.
struct Requirement {
  int ranks = 0;
  double efficiency = 0;
  double images_per_s = 0;  // the rate to reach, of all ranks
  std::optional<int> cores_per_rank;
  std::optional<double> storage_bytes_per_s;  // for all ranks together
  std::optional<double> link_bytes_per_s;     // the smallest sufficient beta; empty also for one rank
  std::vector<std::string> notes;             // why one of these is empty
};

// One training: a network on an accelerator, fed by a pipeline.
struct PredictionArm {
  std::string name;      // "optimized images, densenet121 256x256 f32, batch 64 on v100"
  std::string pipeline;  // name of the pipeline
  std::string format;    // of the data
  std::string model;
  int image_size = 0;  // side in pixels
  std::string precision;
  int batch_size = 0;           // images: of one rank in weak scaling, of all ranks in strong scaling
  std::string profile;          // name of the accelerator's profile
  std::string accelerator;      // the device, in words
  std::string source;           // where its speed comes from
  bool speed_computed = false;  // its speed was computed, not measured anywhere
  std::string scaling;          // "weak" or "strong"
  std::string comm_profile;     // what software adds to the links: a name, or the path of a file
  std::string link;             // between hosts, by name; empty: given by its figures
  std::string host_link;        // within a host, by name; empty: as between hosts
  int ranks_per_host = 0;       // 0: every rank has its own
  double step_spread = 0;       // standard deviation / mean of the time that a rank computes in a step
  double alpha_s = 0;           // with beta, of the slowest link between the most ranks, as the software uses it
  double beta_bytes_per_s = 0;
  double launch_s = 0;
  std::optional<double> fit_rms_error;                // set if the network was fitted to trainings
  std::optional<double> input_images_per_s_per_rank;  // of a rank that decodes only its share
  std::optional<int> cores_per_rank;
  results::Grade grade = results::Grade::told_apart;  // certainty of the input's rate
  std::vector<PredictionRow> rows;
  std::optional<Requirement> requirement;
  std::vector<std::string> notes;  // assumptions, and how rows are extrapolated
};

// All trainings of one call of `chexbench predict`.
struct Prediction {
  std::vector<PredictionArm> arms;
};

// Returns plain text for people: a line for each arm with the answer for the most ranks, or for the ranks of
// --for-ranks, and a table for a single arm; with `explain`, a table of all limits of each arm, and its notes. Tables
// are at most `width` wide where possible.
std::string prediction_table(const Prediction& prediction, bool explain, const report::LineWidth& width = {});
// Returns one JSON object for programs, with units in its keys; undefined values are null.
std::string prediction_json(const Prediction& prediction);
// Returns tidy CSV (RFC 4180, with LF): one row for each arm and number of ranks, with units in the names of columns;
// undefined values are empty. Notes and requirements belong to an arm and have no row.
std::string prediction_csv(const Prediction& prediction);

}  // namespace chexbench::verbs
