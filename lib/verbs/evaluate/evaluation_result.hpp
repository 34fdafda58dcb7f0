// What `chexbench evaluate` found, and the texts that are made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/label_bits.hpp"
#include "measure/scores.hpp"
#include "measure/top_k.hpp"
#include "report/fitted_table.hpp"
#include "spec/experiment.hpp"

namespace chexbench::verbs {

// One image and the probability of each label.
struct ScoreRow {
  std::string file;
  std::optional<std::uint32_t> patient;  // empty: nothing says whose image it is
  LabelBits labels;                      // that the data set says it has
  std::vector<float> probabilities;      // in the order of EvaluationResult::labels
};

// What a data set says beyond the images: how good the probabilities are.
struct DataSetScores {
  std::string root;
  std::string split;
  std::size_t unread_images = 0;                // that are missing or could not be read
  std::size_t patients = 0;                     // 0: nothing says whose images they are
  measure::ScoreSummary scores;                 // of labels that are independent of each other
  std::optional<measure::ClassScores> classes;  // of exclusive classes, in place of `scores`
};

struct EvaluationResult {
  std::string chexbench_version;
  std::string date_utc;
  std::string checkpoint;  // path
  std::string network;
  int epochs = 0;  // that the network was trained for; 0: unknown
  int image_size = 0;
  std::string precision;
  std::string engine;
  std::string device;
  int crops = 1;  // of each image, whose probabilities are averaged
  spec::Task task = spec::Task::multi_label;
  std::vector<std::string> labels;
  std::vector<ScoreRow> rows;             // sorted by file for a data set, else as they were given
  std::optional<DataSetScores> data_set;  // empty for single images
};

// One row per label with its figures, then their means, and what is left out; for single images, one row per image and
// label with its probability.
std::string evaluation_table(const EvaluationResult& result, const report::LineWidth& width);

// The same as CSV without the means; for single images, scores_csv().
std::string evaluation_csv(const EvaluationResult& result);

// All but the rows of a data set, with reliability curves: evaluation.json. With single images, the rows, too.
std::string evaluation_json(const EvaluationResult& result);

// One row per image: file, patient, labels (names joined by '|'; empty for single images) and a probability per label;
// of exclusive classes the place of the right one, the five that are most probable, and their probabilities.
std::string scores_csv(const EvaluationResult& result);

// Returns the classes of a row that are most probable, at most measure::kTopK of them, the most probable first.
std::vector<std::size_t> top_classes(const ScoreRow& row);

}  // namespace chexbench::verbs
