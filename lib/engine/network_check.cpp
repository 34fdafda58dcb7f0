#include "engine/network_check.hpp"

#include "engine/cuda/program/lowering.hpp"
#include "engine/engine.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {

void check_network(const std::string& engine, const spec::ModelSpec& model) {
  if (engine == "none") return;  // It drops all batches.
  const model::Graph graph = model::make_network(model.name, model.image_size);
  if (computes_on_gpu(engine)) cuda::lower(graph, cuda::lowering_options(model));
}

}  // namespace chexbench::engine
