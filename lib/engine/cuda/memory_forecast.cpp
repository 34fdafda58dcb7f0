#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/memory_plan.hpp"
#include "engine/device_memory.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {

std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config) {
  if (!computes_on_gpu(name)) return {};
  const model::Graph graph = model::make_network(config.model.name, config.model.image_size, config.outputs);
  const cuda::Program program = cuda::lower(graph, cuda::lowering_options(config.model));
  const cuda::MemoryPlan plan = cuda::plan_memory(graph, program,
                                                  {.images = config.training.batch_size,
                                                   .precision = config.training.precision,
                                                   .optimizer = config.training.optimizer,
                                                   .deliver = config.deliver,
                                                   .accumulates = config.training.accumulate_steps > 1});
  const std::size_t parameters = plan.regions.parameter_bytes(), batches = plan.regions.batch_bytes();
  return {{"activations and their gradients", plan.arena_bytes()},
          {"weights, gradients, moments and copies", parameters},
          {"two batches", batches},
          {"statistics and the rest", plan.total_bytes() - plan.arena_bytes() - parameters - batches}};
}

}  // namespace chexbench::engine
