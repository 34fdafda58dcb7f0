#include "engine/network_check.hpp"

#include "engine/registry.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {

void check_network(const std::string& engine, const spec::ModelSpec& model) {
  const EngineKind* const kind = find_engine_kind(engine);
  if (kind != nullptr && kind->drops_batches) return;
  const model::Graph graph = model::make_network(model.name, model.image_size);
  if (kind != nullptr && kind->check_layers != nullptr) kind->check_layers(graph, model);
}

}  // namespace chexbench::engine
