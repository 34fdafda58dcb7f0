#include "engine/network_check.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "engine/cuda/lowering.hpp"
#include "engine/engine.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {

void check_network(const std::string& engine, const spec::ModelSpec& model) {
  if (engine == "none") return;  // drops what it is given
  const model::Graph graph = model::make_network(model.name, model.image_size);
  if (computes_on_gpu(engine)) cuda::lower(graph, cuda::lowering_options(model));
}

void check_training(const std::string& engine, const spec::TrainingSpec& training) {
  if (!computes_on_gpu(engine)) return;
  if (training.accumulate_steps > 1) {
    throw SpecError(
        fmt::format("training.accumulate_steps is {}, but engine {} updates after each batch: leave it at 1, or set "
                    "engine to onednn or emulated:<profile>",
                    training.accumulate_steps, engine));
  }
}

}  // namespace chexbench::engine
