#include "bench/evaluation.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/core_layout.hpp"
#include "bench/gpu_layout.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/initial_weights.hpp"
#include "model/networks.hpp"

namespace chexbench::bench {
namespace {

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
