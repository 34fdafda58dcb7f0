#include "bench/training/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "bench/interrupt_watch.hpp"
#include "bench/pipeline_context.hpp"
#include "bench/training/ten_crop.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "engine/epoch_training.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/presets.hpp"

namespace chexbench::bench {
namespace {

// The images of one rank, and the index of each in the whole data set.
struct Share {
  dataset::Dataset images;
  std::vector<std::uint32_t> numbers;
};

// Returns whole batches: those whose number, modulo the number of ranks, is that of this rank.
Share share_of(const ScoringContext& context) {
  const auto batch = static_cast<std::size_t>(context.spec.training.batch_size);
  const auto rank = static_cast<std::size_t>(context.communicator.rank());
  const auto world = static_cast<std::size_t>(context.communicator.world());
  Share share{.images = context.images, .numbers = {}};
  share.images.images.clear();
  for (std::size_t image = 0; image < context.images.images.size(); ++image) {
    if (image / batch % world != rank) continue;
    share.images.images.push_back(context.images.images[image]);
    share.numbers.push_back(static_cast<std::uint32_t>(image));
  }
  share.images.partial |= share.numbers.size() < context.images.images.size();
  return share;
}

// Returns a pipeline that passes over the images once, in the order of their files.
spec::PipelineSpec pass_over() {
  return spec::parse_pipeline(R"([{"op": "list_files"}, {"op": "interleave"},
                      {"op": "map_and_batch", "parallel_batches": 2, "drop_remainder": false},
                      {"op": "prefetch", "buffer": 2}])",
                              "scoring");
}

void append(std::string& bytes, const auto* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(*values));
}

// Computes the logits of batches, view by view.
class ViewScorer {
 public:
  explicit ViewScorer(const ScoringContext& context)
      : engine_(context.engine), views_(context.views), outputs_(static_cast<std::size_t>(context.images.labels())) {
    if (views_ == Views::whole) return;
    const int side = context.spec.model.image_size;
    crops_ = BatchPool::create({.images = context.spec.training.batch_size,
                                .height = side,
                                .width = side,
                                .deliver = context.spec.data.deliver,
                                .labels = context.images.labels()},
                               1, engine_.allocator());
  }

  // Returns the logits of each valid image, [views, labels].
  std::vector<std::vector<float>> score(BatchLease batch) {
    std::vector<std::vector<float>> of_images(static_cast<std::size_t>(batch->valid));
    if (views_ == Views::whole) {
      add_view(std::move(batch), of_images);
      return of_images;
    }
    for (int crop = 0; crop < kCrops; ++crop) {
      BatchLease part = crops_->acquire({});
      copy_crop(*batch, crop, *part);
      add_view(std::move(part), of_images);
    }
    return of_images;
  }

 private:
  void add_view(BatchLease batch, std::vector<std::vector<float>>& of_images) {
    std::vector<float> logits(of_images.size() * outputs_);
    engine_.epoch_training()->evaluate(std::move(batch), logits);
    for (std::size_t i = 0; i < of_images.size(); ++i) {
      const auto of_image = std::span(logits).subspan(i * outputs_, outputs_);
      of_images[i].insert(of_images[i].end(), of_image.begin(), of_image.end());
    }
  }

  engine::Engine& engine_;
  const Views views_;
  const std::size_t outputs_;
  std::shared_ptr<BatchPool> crops_;  // only for crops
};

using FeaturesOfImages = std::map<std::uint32_t, engine::FeatureMaps>;  // by the image's number

// Keeps the features of the images of the last evaluation.
void keep_features(const ScoringContext& context, std::span<const std::uint32_t> numbers, FeaturesOfImages& kept) {
  const auto all = context.engine.epoch_training()->features(static_cast<int>(numbers.size()));
  if (!all) {
    throw SpecError(
        fmt::format("engine {} gives no feature maps of {}: use engine onednn, and a network that averages "
                    "maps before its last layer",
                    context.spec.engine, context.spec.model.name));
  }
  const std::size_t values = all->values.size() / numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto of_image = std::span(all->values).subspan(i * values, values);
    kept[numbers[i]] = {all->channels, all->height, all->width, {of_image.begin(), of_image.end()}};
  }
}

// Scores this rank's images and returns their bytes: for each image its number (u32), its logits and its labels (f32).
std::string score_share(const ScoringContext& context, const Share& share, FeaturesOfImages& features) {
  spec::Experiment spec = context.views == Views::whole ? context.spec : ten_crop_input(context.spec);
  spec.pipeline = pass_over();
  spec.measure.attribution = false;
  ViewScorer scorer(context);
  pipeline::PipelineContext pipeline_context =
      make_pipeline_context(spec, share.images, context.engine.allocator(), {.cores = context.cores});
  pipeline_context.augments = false;
  const auto pipeline = pipeline::make_pipeline(pipeline_context);
  const InterruptWatch watch(*pipeline);
  const auto outputs = static_cast<std::size_t>(share.images.labels());
  std::string bytes;
  while (BatchLease batch = pipeline->next()) {
    throw_if_interrupted();
    const std::vector<ExampleId> ids = batch->ids;
    const std::vector<float> labels = batch->labels;
    const std::vector<std::vector<float>> logits = scorer.score(std::move(batch));
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < logits.size(); ++i) numbers.push_back(share.numbers.at(ids[i].image));
    if (context.keeps_features) keep_features(context, numbers, features);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      append(bytes, &numbers[i], 1);
      append(bytes, logits[i].data(), logits[i].size());
      append(bytes, labels.data() + i * outputs, outputs);
    }
  }
  throw_if_interrupted();
  return bytes;
}

std::vector<ScoredExample> unpack(const std::vector<std::string>& of_ranks, std::size_t views, std::size_t outputs) {
  const std::size_t logits_bytes = views * outputs * sizeof(float), labels_bytes = outputs * sizeof(float);
  const std::size_t image_bytes = sizeof(std::uint32_t) + logits_bytes + labels_bytes;
  std::vector<ScoredExample> scored;
  for (const std::string& bytes : of_ranks) {
    for (const char* at = bytes.data(); at != bytes.data() + bytes.size(); at += image_bytes) {
      ScoredExample example{.image = 0,
                            .logits = std::vector<float>(views * outputs),
                            .labels = std::vector<float>(outputs),
                            .features = {}};
      std::memcpy(&example.image, at, sizeof(example.image));
      std::memcpy(example.logits.data(), at + sizeof(example.image), logits_bytes);
      std::memcpy(example.labels.data(), at + sizeof(example.image) + logits_bytes, labels_bytes);
      scored.push_back(std::move(example));
    }
  }
  std::ranges::sort(scored, {}, &ScoredExample::image);
  return scored;
}

}  // namespace

std::vector<ScoredExample> score_images(const ScoringContext& context) {
  const Share share = share_of(context);
  FeaturesOfImages features;
  const std::string mine = share.numbers.empty() ? "" : score_share(context, share, features);
  std::vector<ScoredExample> scored =
      unpack(context.communicator.gather(mine, 0), context.views == Views::whole ? 1 : kCrops,
             static_cast<std::size_t>(context.images.labels()));
  for (ScoredExample& example : scored) {
    if (const auto found = features.find(example.image); found != features.end())
      example.features = std::move(found->second);
  }
  return scored;
}

}  // namespace chexbench::bench
