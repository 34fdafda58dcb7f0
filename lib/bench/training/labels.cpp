#include "bench/training/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/patient_split.hpp"
#include "spec/class_weights.hpp"

namespace chexbench::bench {
namespace {

// The images of which a label is known, and those of them that have it.
struct LabelCount {
  std::size_t known = 0;
  std::size_t with = 0;
};

std::vector<LabelCount> count_labels(const dataset::Dataset& images) {
  std::vector<LabelCount> counts(images.label_names.size(), {.known = images.images.size()});
  const std::size_t may_be_ignored = std::min(counts.size(), LabelBits::kMostIgnored);
  for (const dataset::ImageEntry& image : images.images) {
    image.labels.for_each([&counts](std::size_t label) { ++counts.at(label).with; });
    for (std::size_t label = 0; label < may_be_ignored; ++label)
      if (image.labels.is_ignored(label)) --counts[label].known;
  }
  return counts;
}

std::vector<float> balanced(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  const std::vector<LabelCount> counts = count_labels(images);
  const bool exclusive = spec.training.task == spec::Task::classes;
  std::vector<float> weights;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const auto with = static_cast<double>(counts[label].with), all = static_cast<double>(counts[label].known);
    if (with == 0 || (!exclusive && with == all)) {
      throw DataError(
          fmt::format("training.class_weights is balanced, but {} of the {} images that train has '{}', so nothing "
                      "balances it: give numbers in its place",
                      with == 0 ? "none" : "each", counts[label].known, printable(images.label_names[label])));
    }
    weights.push_back(static_cast<float>(exclusive ? all / static_cast<double>(counts.size()) / with : all / with - 1));
  }
  return weights;
}

}  // namespace

void check_task(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  if (spec.training.task != spec::Task::classes) return;
  std::vector<std::size_t> labels;  // of one image; kept, as a data set may have a million
  for (const dataset::ImageEntry& image : images.images) {
    labels.clear();
    image.labels.for_each([&labels](std::size_t label) { labels.push_back(label); });
    if (labels.size() == 1) continue;
    const auto name = [&](std::size_t i) { return printable(images.label_names.at(labels[i])); };
    throw DataError(fmt::format(
        "training.task is classes, of which each image has exactly one, but {} of {} has {}: its labels are no "
        "exclusive classes; set training.task to multi_label",
        printable(image.name), printable(spec.data.root),
        labels.empty() ? "none" : fmt::format("{}, among them '{}' and '{}'", labels.size(), name(0), name(1))));
  }
}

std::vector<float> class_weights(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  if (spec::balances_classes(spec.training)) {
    if (spec.training.epochs == 0) return balanced(spec, images);
    return balanced(spec, dataset::split_for_epochs(images, spec.training.validation_share).training);
  }
  std::vector<float> weights = spec::stated_class_weights(spec.training);
  const std::size_t labels = images.label_names.size();
  if (weights.size() == 1) weights.resize(labels, weights.front());
  if (weights.empty() || weights.size() == labels) return weights;
  throw SpecError(
      fmt::format("training.class_weights has {} numbers, and the images have {} labels: give one for all, "
                  "or one for each",
                  weights.size(), labels));
}

}  // namespace chexbench::bench
