#include "bench/training/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "bench/interrupt_watch.hpp"
#include "bench/pipeline_context.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "engine/epoch_training.hpp"
#include "measure/auroc.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/presets.hpp"

namespace chexbench::bench {
namespace {

// Returns a pipeline that passes over the images once, in the order of their files. Ranks share the records, because
// there may be fewer files than ranks; but if each image is a file on a server, ranks share the files, so that not
// every rank fetches all of them.
spec::PipelineSpec pass_over(const dataset::Dataset& images, int ranks) {
  const bool by_file =
      images.shards.empty() && images.store->is_distant() && images.images.size() >= static_cast<std::size_t>(ranks);
  const std::string ops =
      by_file ? R"({"op": "shard"}, {"op": "interleave"})" : R"({"op": "interleave"}, {"op": "shard"})";
  return spec::parse_pipeline(fmt::format(R"([{{"op": "list_files"}}, {},
                      {{"op": "map_and_batch", "parallel_batches": 2, "drop_remainder": false}},
                      {{"op": "prefetch", "buffer": 2}}])",
                                          ops),
                              "validation");
}

struct Scored {
  std::vector<float> logits;
  std::vector<float> labels;
};
using ScoredById = std::map<std::uint32_t, Scored>;  // by ExampleId::image

void append(std::string& bytes, const auto* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(*values));
}

// Evaluates this rank's images and returns their bytes: for each image its number (u32), its logits and its labels
// (f32).
std::string evaluate_share(const ValidationContext& context) {
  spec::Experiment spec = context.spec;
  spec.pipeline = pass_over(context.images, context.communicator.world());
  spec.measure.attribution = false;
  pipeline::PipelineContext pipeline_context = make_pipeline_context(
      spec, context.images, context.engine.allocator(),
      {.rank = context.communicator.rank(), .world = context.communicator.world(), .cores = context.cores});
  pipeline_context.augments = false;
  const auto pipeline = pipeline::make_pipeline(pipeline_context);
  const InterruptWatch watch(*pipeline);
  const auto outputs = static_cast<std::size_t>(context.images.labels());
  std::string bytes;
  std::vector<float> logits;
  while (BatchLease batch = pipeline->next()) {
    throw_if_interrupted();
    const auto images = static_cast<std::size_t>(batch->valid);
    const std::vector<ExampleId> ids = batch->ids;
    const std::vector<float> labels = batch->labels;
    logits.resize(images * outputs);
    context.engine.epoch_training()->evaluate(std::move(batch), logits);
    for (std::size_t i = 0; i < images; ++i) {
      append(bytes, &ids[i].image, 1);
      append(bytes, logits.data() + i * outputs, outputs);
      append(bytes, labels.data() + i * outputs, outputs);
    }
  }
  throw_if_interrupted();
  return bytes;
}

ScoredById unpack(const std::vector<std::string>& of_ranks, std::size_t outputs) {
  const std::size_t image_bytes = sizeof(std::uint32_t) + 2 * outputs * sizeof(float);
  ScoredById scored;
  for (const std::string& bytes : of_ranks) {
    for (const char* at = bytes.data(); at != bytes.data() + bytes.size(); at += image_bytes) {
      std::uint32_t image = 0;
      std::memcpy(&image, at, sizeof(image));
      Scored& values = scored[image];
      values.logits.resize(outputs);
      values.labels.resize(outputs);
      std::memcpy(values.logits.data(), at + sizeof(image), outputs * sizeof(float));
      std::memcpy(values.labels.data(), at + sizeof(image) + outputs * sizeof(float), outputs * sizeof(float));
    }
  }
  return scored;
}

// Returns the binary cross-entropy of the logits, the mean over images and labels, as the engines compute it.
double mean_loss(const ScoredById& scored) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [image, values] : scored) {
    count += values.logits.size();
    for (std::size_t f = 0; f < values.logits.size(); ++f) {
      const auto z = static_cast<double>(values.logits[f]), t = static_cast<double>(values.labels[f]);
      sum += std::max(z, 0.0) - z * t + std::log1p(std::exp(-std::abs(z)));
    }
  }
  return sum / static_cast<double>(count);
}

void score(const ScoredById& scored, const dataset::Dataset& images, results::EpochRecord& epoch) {
  measure::ScoredImages table{.columns = images.label_names.size(), .scores = {}, .labels = {}, .patients = {}};
  for (const auto& [image, values] : scored) {
    table.patients.push_back(images.images.at(image).patient);
    for (const float logit : values.logits) {
      // A network that has diverged ranks nothing, and NaN would have no place in the order of scores.
      table.scores.push_back(std::isnan(logit) ? 0.0f : logit);
    }
    for (const float label : values.labels) table.labels.push_back(label != 0 ? 1 : 0);
  }
  const measure::AurocSummary summary = measure::summarize_auroc(table);
  epoch.mean_auroc = summary.mean;
  epoch.mean_auroc_ci95 = summary.mean_ci95;
  for (std::size_t f = 0; f < summary.labels.size(); ++f) {
    const measure::LabelAuroc& label = summary.labels[f];
    epoch.scores.push_back({images.label_names[f], label.value, label.ci95, label.positives, label.negatives});
  }
}

// Sends the figures by which all ranks decide from rank 0 to the others.
void share(results::EpochRecord& epoch, comm::Communicator& communicator) {
  double numbers[] = {epoch.validation_loss, epoch.mean_auroc.value_or(-1)};
  communicator.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  epoch.validation_loss = numbers[0];
  epoch.mean_auroc = numbers[1] < 0 ? std::nullopt : std::optional(numbers[1]);
}

}  // namespace

results::EpochRecord validate(const ValidationContext& context) {
  results::EpochRecord epoch;
  const std::vector<std::string> of_ranks = context.communicator.gather(evaluate_share(context), 0);
  if (context.communicator.rank() == 0) {
    const ScoredById scored = unpack(of_ranks, context.images.label_names.size());
    if (scored.empty()) {
      throw DataError(fmt::format("validation: none of its {} images could be read", context.images.images.size()));
    }
    epoch.validation_images = scored.size();
    if (scored.size() < context.images.images.size()) {
      log::warning(
          "validation: {} of its {} images are missing or could not be read: `chexbench data check` names them",
          context.images.images.size() - scored.size(), context.images.images.size());
    }
    epoch.validation_loss = mean_loss(scored);
    score(scored, context.images, epoch);
  }
  share(epoch, context.communicator);
  return epoch;
}

double validation_score(const results::EpochRecord& epoch) { return epoch.mean_auroc.value_or(-epoch.validation_loss); }

}  // namespace chexbench::bench
