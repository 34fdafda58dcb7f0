#include "bench/training/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/rank_layout.hpp"
#include "bench/stopping.hpp"
#include "bench/trial_data.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "engine/initial_weights.hpp"
#include "engine/training_engine.hpp"
#include "image/preprocess_rows.hpp"
#include "model/networks.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::bench {
namespace {

// The images of one rank, with their indices in the whole data set.
struct Share {
  dataset::Dataset images;
  std::vector<std::uint32_t> numbers;
};

// Returns the whole batches whose number modulo the number of ranks is this rank.
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

// Returns a pipeline for one pass over the images, in the order of their files.
spec::PipelineSpec pass_over() {
  return spec::parse_pipeline(R"([{"op": "list_files"}, {"op": "interleave"},
                      {"op": "map_and_batch", "parallel_batches": 2, "drop_remainder": false},
                      {"op": "prefetch", "buffer": 2}])",
                              "scoring");
}

void append(std::string& bytes, const auto* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(*values));
}

// Returns the number of values that the engine returns for a view of an image.
std::size_t outputs_of(const ScoringContext& context) {
  return static_cast<std::size_t>(context.images.labels()) * (context.maps ? context.maps->places() : 1);
}

// Computes the logits of batches, view by view.
class ViewScorer {
 public:
  explicit ViewScorer(const ScoringContext& context)
      : engine_(context.engine), views_(context.views), outputs_(outputs_of(context)) {
    if (views_ == Views::whole) return;
    const int side = context.spec.model.image_size;
    crops_ = BatchPool::create({.images = context.spec.training.batch_size,
                                .height = side,
                                .width = side,
                                .deliver = spec::delivered(context.spec.data),
                                .labels = context.images.labels()},
                               1, engine_.allocator());
  }

  // Returns the engine's output for each valid image, [views, outputs].
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

// Appends the gray values of the network's input. Colors are weighted by ITU-R BT.601, as in decoders.
void append_seen(Batch& batch, int slot, spec::Color color, std::string& bytes) {
  const std::size_t pixels = static_cast<std::size_t>(batch.shape.height) * static_cast<std::size_t>(batch.shape.width);
  if (batch.shape.deliver == Deliver::u8) return append(bytes, batch.image(slot), pixels);
  const image::Normalization normalization = image::imagenet_normalization();
  const bool is_float = batch.shape.deliver == Deliver::f32;
  const std::byte* const image = batch.image(slot);
  const auto channel = [&](std::size_t pixel, std::size_t c) {
    if (!is_float) return static_cast<float>(image[pixel * 3 + c]);
    const float value = reinterpret_cast<const float*>(image)[pixel * 3 + c];
    return (value - normalization.offset[c]) / normalization.scale[c];
  };
  for (std::size_t i = 0; i < pixels; ++i) {
    const float gray = color == spec::Color::gray
                           ? channel(i, 0)
                           : 0.299f * channel(i, 0) + 0.587f * channel(i, 1) + 0.114f * channel(i, 2);
    bytes.push_back(static_cast<char>(std::clamp(std::lround(gray), 0L, 255L)));
  }
}

// Scores this rank's images and returns their bytes: for each image its number (u32), the engine's output, its labels
// (f32) and, with maps, the gray values of the input (u8).
std::string score_share(const ScoringContext& context, const Share& share) {
  spec::TrialSpec spec = context.views == Views::whole ? context.spec : ten_crop_input(context.spec);
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
    std::vector<std::string> seen(ids.size());
    for (int slot = 0; context.maps && slot < batch->valid; ++slot)
      append_seen(*batch, slot, spec::color_of(spec.data), seen[static_cast<std::size_t>(slot)]);
    const std::vector<std::vector<float>> logits = scorer.score(std::move(batch));
    for (std::size_t i = 0; i < logits.size(); ++i) {
      append(bytes, &share.numbers.at(ids[i].image), 1);
      append(bytes, logits[i].data(), logits[i].size());
      append(bytes, labels.data() + i * outputs, outputs);
      bytes += seen[i];
    }
  }
  throw_if_interrupted();
  return bytes;
}

// Extracts values from bytes, one after another.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }

  template <class Value>
  std::vector<Value> take(std::size_t count) {
    std::vector<Value> values(count);
    std::memcpy(values.data(), rest_.data(), count * sizeof(Value));
    rest_.remove_prefix(count * sizeof(Value));
    return values;
  }

 private:
  std::string_view rest_;
};

// Returns the mean over each map.
std::vector<float> means(const std::vector<float>& maps, std::size_t places) {
  std::vector<float> logits;
  for (std::size_t at = 0; at < maps.size(); at += places) {
    const double sum = std::accumulate(maps.data() + at, maps.data() + at + places, 0.0);
    logits.push_back(static_cast<float>(sum / static_cast<double>(places)));
  }
  return logits;
}

std::vector<ScoredExample> unpack(const std::vector<std::string>& of_ranks, const ScoringContext& context) {
  const auto labels = static_cast<std::size_t>(context.images.labels());
  const std::size_t values = outputs_of(context) * (context.views == Views::whole ? 1 : kCrops);
  const auto side = static_cast<std::size_t>(context.spec.model.image_size);
  std::vector<ScoredExample> scored;
  for (const std::string& bytes : of_ranks) {
    for (Unpacker unpacker(bytes); !unpacker.empty();) {
      ScoredExample& example = scored.emplace_back();
      example.image = unpacker.take<std::uint32_t>(1).front();
      example.logits = unpacker.take<float>(values);
      example.labels = unpacker.take<float>(labels);
      if (!context.maps) continue;
      example.seen = unpacker.take<std::uint8_t>(side * side);
      example.maps = std::move(example.logits);
      example.logits = means(example.maps, context.maps->places());
    }
  }
  std::ranges::sort(scored, {}, &ScoredExample::image);
  return scored;
}

// Copies a row of `pixels` pixels, from right to left if `mirrored`.
void copy_row(const std::byte* from, std::byte* to, std::size_t pixels, std::size_t pixel_bytes, bool mirrored) {
  if (!mirrored) {
    std::memcpy(to, from, pixels * pixel_bytes);
    return;
  }
  for (std::size_t x = 0; x < pixels; ++x)
    std::memcpy(to + x * pixel_bytes, from + (pixels - 1 - x) * pixel_bytes, pixel_bytes);
}

// Returns the shape of a tensor in the file, where the head for class activation maps is a linear layer.
std::vector<std::int64_t> shape_in_file(const EvaluationRequest& request, const std::string& name,
                                        const model::TensorInfo& info) {
  const bool is_linear_there = request.class_maps && request.weights.shape(name).size() == 2;
  return is_linear_there && info.shape.size() == 4 ? std::vector{info.shape[0], info.shape[1]} : info.shape;
}

std::optional<MapSize> map_size(const EvaluationRequest& request) {
  if (!request.class_maps) return std::nullopt;
  const spec::ModelSpec& model = request.spec.model;
  const model::Graph maps = model::class_map_network(model::make_network(model.name, model.image_size));
  const model::Layer& head = *(maps.layers.end() - 2);
  return MapSize{.rows = head.height, .columns = head.width};
}

std::unique_ptr<engine::Engine> make_engine(comm::World& world, const HostCores& host, const std::vector<int>& cores,
                                            const EvaluationRequest& request) {
  comm::Communicator& ranks = world.communicator();
  const spec::TrialSpec& spec = request.spec;
  const int gpu = engine::computes_on_gpu(spec.engine)
                      ? share_gpus(ranks, host, engine::visible_gpus(), request.allow_shared_gpu).gpu
                      : 0;
  auto engine = engine::make_engine(spec.engine, {.model = spec.model,
                                                  .training = spec.training,
                                                  .comm = spec.comm,
                                                  .deliver = spec::delivered(spec.data),
                                                  .outputs = request.images.labels(),
                                                  .class_maps = request.class_maps,
                                                  .class_weights = {},
                                                  .cores = cores,
                                                  .world = ranks.world(),
                                                  .rank = ranks.rank(),
                                                  .gpu = gpu,
                                                  .plan_choice = {}});
  if (engine->epoch_training() == nullptr) {
    throw SpecError(fmt::format("engine {} computes no probabilities: use auto, onednn or cuda", spec.engine));
  }
  engine->load_weights([&request](const model::TensorInfo& info, std::span<float> values) {
    const std::string name = engine::name_in(request.weights, info.name);
    request.weights.read(name, shape_in_file(request, name, info), values);
  });
  return engine;
}

// @throws as score_images(); for an unreadable image, the message also says how to leave it out
std::vector<ScoredExample> score_or_say_how(const ScoringContext& context) {
  try {
    return score_images(context);
  } catch (const DataError& error) {
    if (context.spec.data.on_bad_record == spec::OnBadRecord::skip) throw;
    throw DataError(
        fmt::format("{}; replace it, or leave out what cannot be read by --set data.on_bad_record=skip", error.what()));
  }
}

}  // namespace

std::vector<ScoredExample> score_images(const ScoringContext& context) {
  const Share share = share_of(context);
  const std::string mine = share.numbers.empty() ? "" : score_share(context, share);
  return unpack(context.communicator.gather(mine, 0), context);
}

spec::TrialSpec ten_crop_input(spec::TrialSpec spec) {
  spec.model.image_size = static_cast<int>(std::lround(spec.model.image_size * 256.0 / 224.0));
  spec.preprocess.crop = 1;
  return spec;
}

void copy_crop(Batch& whole, int crop, Batch& part) {
  constexpr int kPlaces = kCrops / 2;  // corners and middle; the second half of the crops is mirrored
  const int place = crop % kPlaces;
  const int room_x = whole.shape.width - part.shape.width, room_y = whole.shape.height - part.shape.height;
  // torchvision's center_crop rounds half to even, as nearbyint() does.
  const auto middle = [](int room) { return static_cast<int>(std::nearbyint(room / 2.0)); };
  const int left = place == 4 ? middle(room_x) : place % 2 == 1 ? room_x : 0;
  const int top = place == 4 ? middle(room_y) : place / 2 == 1 ? room_y : 0;
  const std::size_t pixel_bytes = static_cast<std::size_t>(part.shape.channels()) * part.shape.element_bytes();
  const std::size_t whole_row = static_cast<std::size_t>(whole.shape.width) * pixel_bytes;
  const auto width = static_cast<std::size_t>(part.shape.width);
  part.valid = whole.valid;
  for (int image = 0; image < whole.valid; ++image) {
    for (int y = 0; y < part.shape.height; ++y) {
      const std::byte* const from = whole.image(image) + static_cast<std::size_t>(top + y) * whole_row +
                                    static_cast<std::size_t>(left) * pixel_bytes;
      copy_row(from, part.image(image) + static_cast<std::size_t>(y) * width * pixel_bytes, width, pixel_bytes,
               crop >= kPlaces);
    }
  }
}

Evaluation evaluate(comm::World& world, const EvaluationRequest& request) {
  comm::Communicator& ranks = world.communicator();
  ranks.enter({.what = fmt::format("builds engine '{}'", request.spec.engine)});
  ranks.limit_waits(request.spec.comm.timeout_s);
  const HostCores host = find_host_cores(world);
  const std::vector<int> cores = share_cores(host, request.spec, ranks.world()).cores;
  bind_this_thread(cores);
  const std::optional<MapSize> maps = map_size(request);
  const auto engine = make_engine(world, host, cores, request);
  ranks.enter({.what = "evaluates images"});
  return {.engine = engine->traits(),
          .scored = score_or_say_how({.spec = request.spec,
                                      .images = request.images,
                                      .engine = *engine,
                                      .communicator = ranks,
                                      .cores = cores,
                                      .views = request.views,
                                      .maps = maps}),
          .maps = maps};
}

}  // namespace chexbench::bench
