// The result of `chexbench evaluate`, and its texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "measure/auroc.hpp"
#include "measure/scores.hpp"
#include "report/text_table.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// Where in an image the network sees a label (model/networks.hpp): [rows, columns], row-major.
struct ClassMap {
  std::size_t label = 0;  // index in EvaluationResult::labels
  std::string file;       // name of its PNG, unique in an evaluation
  int rows = 0;
  int columns = 0;
  std::vector<float> values;
};

// One image and the probability of each label.
struct ScoreRow {
  std::string file;
  std::optional<std::uint32_t> patient;  // empty: unknown patient
  LabelBits labels;                      // from the data set
  std::vector<float> probabilities;      // in the order of EvaluationResult::labels
  std::vector<ClassMap> maps;            // of the most probable labels, if requested
  std::vector<std::uint8_t> seen;        // with maps: gray values of the network's input, [image_size, image_size]
};

// The quality of the probabilities, by the labels of a data set.
struct DataSetScores {
  std::string root;
  std::string split;
  std::size_t unread_images = 0;                // that are missing or could not be read
  std::size_t patients = 0;                     // 0: unknown
  measure::ScoreSummary scores;                 // of labels that are independent of each other
  measure::RocSummary roc;                      // of the same labels
  std::optional<measure::ClassScores> classes;  // of exclusive classes, in place of `scores`
  measure::Reliability certainty = {};          // of exclusive classes: of the most probable one, and if it is right
  std::vector<measure::Confusion> confusions;   // of exclusive classes, at most kMostConfusions
};

inline constexpr std::size_t kMostConfusions = 100;

struct EvaluationResult {
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
  std::vector<ScoreRow> rows;             // sorted by file for a data set, else in the given order
  std::optional<DataSetScores> data_set;  // empty for single images
};

// One row per label with its figures, then their means, and what they leave out; for single images, one row per image
// and label with its probability.
std::string evaluation_table(const EvaluationResult& result, const report::LineWidth& width);

// The same as CSV without the means; for single images, scores_csv().
std::string evaluation_csv(const EvaluationResult& result);

// Everything except the rows of a data set, with ROC and reliability curves: evaluation.json. Also the rows of single
// images.
std::string evaluation_json(const EvaluationResult& result);

// The same as a page with charts: evaluation.html. For data sets only.
std::string evaluation_html(const EvaluationResult& result);

// The curves of a data set, one row per point or bin: roc.csv and reliability.csv. Exclusive classes have no ROC, and
// one reliability, that of the most probable class.
std::string evaluation_roc_csv(const EvaluationResult& result);
std::string evaluation_reliability_csv(const EvaluationResult& result);

// Returns the class activation maps of an image as PNG files of image_size x image_size pixels, in the order of
// ScoreRow::maps.
std::vector<std::vector<std::byte>> class_map_pngs(const ScoreRow& row, int image_size);

// One row per image: file, patient, labels (names joined by '|'; empty for single images) and a probability per label;
// for exclusive classes the index of the right one, the five most probable ones, and their probabilities.
std::string scores_csv(const EvaluationResult& result);

// Returns at most `most` labels or classes of a row, the most probable first.
std::vector<std::size_t> most_probable(const ScoreRow& row, std::size_t most = measure::kTopK);

template <class Visitor>
void visit_estimate(Visitor&& visit, const std::string& name, const measure::Estimate& estimate) {
  visit(name.c_str(), estimate.value);
  visit((name + "_ci95_low").c_str(), estimate.ci95 ? std::optional(estimate.ci95->low) : std::nullopt);
  visit((name + "_ci95_high").c_str(), estimate.ci95 ? std::optional(estimate.ci95->high) : std::nullopt);
}

template <class Visitor>
void visit_class(Visitor&& visit, const measure::ClassAccuracy& of_class) {
  const auto share = [&of_class](std::uint64_t part) {
    return of_class.images == 0 ? std::nullopt
                                : std::optional(static_cast<double>(part) / static_cast<double>(of_class.images));
  };
  visit("images", of_class.images);
  visit("top1", share(of_class.in_top1));
  visit("top5", share(of_class.in_top5));
}

template <class Visitor>
void visit_label(Visitor&& visit, const measure::LabelScores& label) {
  visit("positives", label.positives);
  visit("negatives", label.negatives);
  visit_estimate(visit, "auroc", label.auroc);
  visit_estimate(visit, "average_precision", label.average_precision);
  visit_estimate(visit, "brier", label.brier);
}

// Returns `size` x `size` pixels of red, green and blue: the gray image, tinted from blue (the least value of the map)
// by green to red (the largest), in equal parts. The map, [rows, columns], is enlarged linearly, like PyTorch's
// interpolate without align_corners. A constant map is blue.
std::vector<std::uint8_t> class_map_image(std::span<const float> map, int rows, int columns,
                                          std::span<const std::uint8_t> gray, int size);

}  // namespace chexbench::verbs
