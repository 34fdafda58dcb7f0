#include "verbs/evaluate/evaluate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>

#include "bench/rank_layout.hpp"
#include "bench/ranks.hpp"
#include "bench/training/checkpoint.hpp"
#include "bench/training/scoring.hpp"
#include "bench/training/validation.hpp"
#include "bench/trial_data.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "dataset/dataset.hpp"
#include "measure/machine.hpp"

namespace chexbench::verbs {
namespace {

// Returns the default labels of a network without label names.
std::vector<std::string> names_of_outputs(const EvaluatedNetwork& network) {
  if (!network.labels.empty()) return network.labels;
  if (network.outputs == kNihLabels) return dataset::nih_label_names();
  std::vector<std::string> names;
  for (int output = 1; output <= network.outputs; ++output) names.push_back(fmt::format("output {}", output));
  return names;
}

// Returns single images as a data set without labels and patients.
dataset::Dataset single_images(const EvaluatedNetwork& network, const std::vector<std::string>& paths) {
  dataset::Dataset images;
  images.label_names = names_of_outputs(network);
  images.has_patients = false;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      throw DataError(fmt::format("{}: {}; evaluate takes PNGs, JPEGs and DICOM files, and a folder by --data", path,
                                  std::filesystem::exists(path, error) ? "not a file" : "no such file"));
    }
    images.images.push_back({.name = path, .path = path, .labels = {}});
  }
  return images;
}

void check_labels(const EvaluatedNetwork& network, const dataset::Dataset& images, const EvaluateOptions& options) {
  constexpr const char* kMend =
      "choose the same ones, in the same order, with --set data.labels.columns and related keys";
  if (images.labels() != network.outputs) {
    throw DataError(fmt::format("checkpoint: {}: it has {} outputs, and the images of {} have {} labels ({}): {}",
                                options.checkpoint, network.outputs, options.root, images.labels(),
                                fmt::join(images.label_names, ", "), kMend));
  }
  const auto [ours, theirs] = std::ranges::mismatch(network.labels, images.label_names, {}, {}, bench::kept_label);
  if (network.labels.empty() || ours == network.labels.end()) return;
  throw DataError(fmt::format(
      "checkpoint: {}: it was trained for '{}' where the images of {} have '{}' (label {} of "
      "{}): {}",
      options.checkpoint, *ours, options.root, *theirs, ours - network.labels.begin() + 1, network.outputs, kMend));
}

// Adds the probabilities of one view's logits: a sigmoid of each, or their softmax.
void add_probabilities(spec::Task task, std::span<const float> logits, std::span<double> sums) {
  if (task == spec::Task::multi_label) {
    for (std::size_t i = 0; i < logits.size(); ++i) sums[i] += 1 / (1 + std::exp(-static_cast<double>(logits[i])));
    return;
  }
  const auto largest = static_cast<double>(std::ranges::max(logits));
  double all = 0;
  for (const float logit : logits) all += std::exp(static_cast<double>(logit) - largest);
  for (std::size_t i = 0; i < logits.size(); ++i) sums[i] += std::exp(static_cast<double>(logits[i]) - largest) / all;
}

// Returns the mean of the views' probabilities.
// @throws DataError if a logit is not a number
std::vector<float> probabilities_of(spec::Task task, const std::vector<float>& logits, std::size_t labels,
                                    const std::string& file) {
  if (std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); })) {
    throw DataError(fmt::format(
        "the network's output for {} is not a number: its training diverged; take an earlier checkpoint", file));
  }
  std::vector<double> sums(labels);
  for (std::size_t at = 0; at < logits.size(); at += labels)
    add_probabilities(task, std::span(logits).subspan(at, labels), sums);
  const double views = static_cast<double>(logits.size()) / static_cast<double>(labels);
  std::vector<float> probabilities;
  for (const double sum : sums) probabilities.push_back(static_cast<float>(sum / views));
  return probabilities;
}

// Returns the name of the PNG of a map: the number of the image, because other folders may have files of the same name,
// its name, and the finding, without characters that are special in paths.
std::string map_file(std::size_t image, const std::string& path, const std::string& label) {
  std::string name = fmt::format("{}-{}-{}", image + 1, std::filesystem::path(path).stem().string(), label);
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  };
  std::ranges::replace_if(name, std::not_fn(is_plain), '_');
  return name + ".png";
}

// Returns the maps of the `count` most probable labels of an image, the most probable first.
std::vector<ClassMap> maps_of(const bench::ScoredExample& scored, const ScoreRow& row, const bench::MapSize& size,
                              std::size_t count, const std::vector<std::string>& labels) {
  std::vector<ClassMap> maps;
  for (const std::size_t label : most_probable(row, count)) {
    const auto values = std::span(scored.maps).subspan(label * size.places(), size.places());
    maps.push_back({.label = label,
                    .file = map_file(scored.image, row.file, labels[label]),
                    .rows = size.rows,
                    .columns = size.columns,
                    .values = {values.begin(), values.end()}});
  }
  return maps;
}

void add_maps(const bench::Evaluation& evaluation, std::size_t count, EvaluationResult& result) {
  for (std::size_t i = 0; evaluation.maps && i < result.rows.size(); ++i) {
    const bench::ScoredExample& scored = evaluation.scored[i];
    result.rows[i].maps = maps_of(scored, result.rows[i], *evaluation.maps, count, result.labels);
    result.rows[i].seen = scored.seen;
  }
}

std::vector<ScoreRow> rows_of(spec::Task task, const std::vector<bench::ScoredExample>& scored,
                              const dataset::Dataset& images) {
  std::vector<ScoreRow> rows;
  for (const bench::ScoredExample& one : scored) {
    const dataset::ImageEntry& entry = images.images.at(one.image);
    rows.push_back({.file = entry.name,
                    .patient = images.has_patients ? std::optional(entry.patient) : std::nullopt,
                    .labels = entry.labels,
                    .probabilities = probabilities_of(task, one.logits, images.label_names.size(), entry.name),
                    .maps = {},
                    .seen = {}});
  }
  return rows;
}

measure::ScoredImages table_of(const std::vector<ScoreRow>& rows, const dataset::Dataset& images) {
  measure::ScoredImages table{.columns = images.label_names.size(), .scores = {}, .labels = {}, .patients = {}};
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    table.patients.push_back(rows[row].patient.value_or(row));
    table.scores.insert(table.scores.end(), rows[row].probabilities.begin(), rows[row].probabilities.end());
    for (std::size_t label = 0; label < table.columns; ++label) {
      const LabelBits& labels = rows[row].labels;
      table.labels.push_back(labels.is_ignored(label) ? measure::kUnknown : std::uint8_t{labels.has(label)});
    }
  }
  return table;
}

void judge_classes(const std::vector<ScoreRow>& rows, const dataset::Dataset& images, DataSetScores& judged) {
  std::vector<measure::PlacedImage> placed;
  std::vector<std::uint32_t> labels, taken_for;
  std::vector<float> certainties;
  std::vector<std::uint8_t> is_right;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    std::size_t right = 0;
    rows[row].labels.for_each([&right](std::size_t label) { right = label; });
    const std::size_t chosen = most_probable(rows[row], 1).front();
    placed.push_back({.label = static_cast<std::uint32_t>(right),
                      .patient = rows[row].patient.value_or(row),
                      .place = measure::place_of_class(rows[row].probabilities, right)});
    labels.push_back(static_cast<std::uint32_t>(right));
    taken_for.push_back(static_cast<std::uint32_t>(chosen));
    certainties.push_back(rows[row].probabilities[chosen]);
    is_right.push_back(chosen == right ? 1 : 0);
  }
  judged.classes = measure::summarize_classes(placed, images.label_names.size());
  judged.certainty = measure::reliability(certainties, is_right);
  judged.confusions = measure::most_confused(labels, taken_for, kMostConfusions);
}

DataSetScores judge(spec::Task task, const EvaluateOptions& options, const std::vector<ScoreRow>& rows,
                    const dataset::Dataset& images) {
  DataSetScores judged{
      .root = without_credentials(options.root), .split = options.split, .scores = {}, .roc = {}, .classes = {}};
  if (rows.empty()) {
    throw DataError(
        fmt::format("{}: none of the {} images of split '{}' could be read: `chexbench data check` says "
                    "why",
                    options.root, images.images.size(), options.split));
  }
  judged.unread_images = images.images.size() - rows.size();
  if (judged.unread_images > 0) {
    log::warning(
        "{} of the {} images of split '{}' are missing or could not be read: `chexbench data check` names them",
        judged.unread_images, images.images.size(), options.split);
  }
  std::set<std::uint32_t> patients;
  for (const ScoreRow& row : rows)
    if (row.patient) patients.insert(*row.patient);
  judged.patients = patients.size();
  if (task == spec::Task::classes) {
    judge_classes(rows, images, judged);
    return judged;
  }
  const measure::ScoredImages table = table_of(rows, images);
  judged.scores = measure::summarize_scores(table);
  judged.roc = measure::summarize_roc(table);
  return judged;
}

// Opens the data set, the same on every rank.
const dataset::Dataset& open_images(comm::World& world, const EvaluatedNetwork& network, const EvaluateOptions& options,
                                    bench::OpenedDatasets& opened) {
  const spec::TrialSpec input = options.ten_crop ? bench::ten_crop_input(network.spec) : network.spec;
  comm::Communicator& ranks = world.communicator();
  ranks.enter({.what = "opens the data"});
  opened.read_together(input, ranks, ranks.world());
  const dataset::Dataset& images = opened.of(input);
  check_labels(network, images, options);
  bench::check_task(network.spec, images);
  bench::check_same_data({{.spec = input, .ranks = ranks.world()}}, opened, ranks, bench::gather_rank_cores(world));
  return images;
}

}  // namespace

EvaluationResult evaluate(comm::World& world, const EvaluateOptions& options) {
  EvaluatedNetwork network = read_network(options);
  bench::OpenedDatasets opened;
  std::optional<dataset::Dataset> singles;
  if (options.root.empty()) {
    singles = single_images(network, options.images);
    network.spec.data.format = singles->format;
    const auto most = static_cast<std::int64_t>(network.spec.training.batch_size);
    network.spec.training.batch_size = static_cast<int>(std::min(most, std::ssize(options.images)));
  }
  const dataset::Dataset& images = singles ? *singles : open_images(world, network, options, opened);
  const bench::Evaluation evaluation =
      bench::evaluate(world, {.spec = network.spec,
                              .weights = network.weights,
                              .images = images,
                              .views = options.ten_crop ? bench::Views::ten_crop : bench::Views::whole,
                              .class_maps = options.class_maps > 0,
                              .allow_shared_gpu = options.allow_shared_gpu});
  EvaluationResult result{.date_utc = measure::utc_now(),
                          .checkpoint = options.checkpoint,
                          .network = network.spec.model.name,
                          .epochs = network.epochs,
                          .image_size = network.spec.model.image_size,
                          .precision = spec::to_string(network.spec.training.precision),
                          .engine = evaluation.engine.name,
                          .device = evaluation.engine.device,
                          .crops = options.ten_crop ? bench::kCrops : 1,
                          .task = network.spec.training.task,
                          .labels = images.label_names,
                          .rows = {},
                          .data_set = {}};
  if (world.communicator().rank() != 0) return result;
  result.rows = rows_of(result.task, evaluation.scored, images);
  add_maps(evaluation, static_cast<std::size_t>(options.class_maps), result);
  if (!options.root.empty()) result.data_set = judge(result.task, options, result.rows, images);
  return result;
}

}  // namespace chexbench::verbs
