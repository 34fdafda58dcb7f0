// Facts about the engine that do not need its module: these work in builds without CUDA, too.
#include <filesystem>

#include "engine/cuda/cuda_engine.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/memory_plan.hpp"
#include "engine/registry.hpp"
#include "measure/gpu_survey.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

// The device file of NVIDIA's driver. Looking for it costs nothing, while loading CUDA takes a tenth of a second.
bool has_gpu_driver() { return std::filesystem::exists("/dev/nvidiactl"); }

void check_layers(const model::Graph& graph, const spec::ModelSpec& model) {
  lower(graph, lowering_options(model, true));
}

std::vector<DeviceMemoryLine> forecast_memory(const EngineConfig& config) {
  const model::Graph graph = model::make_network(config.model.name, config.model.image_size, config.outputs);
  const Program program = lower(graph, lowering_options(config.model, config.training.fused));
  const MemoryPlan plan = plan_memory(graph, program,
                                      {.images = config.training.batch_size,
                                       .precision = config.training.precision,
                                       .optimizer = config.training.optimizer,
                                       .deliver = config.deliver,
                                       .accumulates = config.training.accumulate_steps > 1,
                                       .learning = learning_request(config.training, !config.class_weights.empty()),
                                       .concurrent_weight_gradients = config.training.concurrent_weight_gradients,
                                       .fuses_pools = config.training.fused});
  const std::size_t parameters = plan.regions.parameter_bytes(), batches = plan.regions.batch_bytes();
  return {{"activations and their gradients", plan.arena_bytes()},
          {"weights, gradients, moments and copies", parameters},
          {"two batches", batches},
          {"statistics and the rest", plan.total_bytes() - plan.arena_bytes() - parameters - batches}};
}

std::vector<measure::LibraryVersion> libraries() {
  std::vector<measure::LibraryVersion> versions;
  for (const char* const name : {"CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN"})
    versions.push_back({name, measure::loaded_version(name)});
  return versions;
}

}  // namespace

const EngineKind& kind() {
  static constexpr EngineKind kKind{
      .name = "cuda",
      .trains = true,
      .computes_on_gpu = true,
      .for_auto = true,
      .usable = [] { return has_cuda() && has_gpu_driver(); },
      .make = [](const std::string&, const EngineConfig& config) { return make_cuda_engine(config); },
      .check_layers = check_layers,
      .forecast_device_memory = forecast_memory,
      .libraries = libraries};
  return kKind;
}

}  // namespace chexbench::engine::cuda
