#include "engine/cuda/training/evaluation.hpp"

#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/runtime/fetch.hpp"
#include "engine/cuda/training/batch_input.hpp"

namespace chexbench::engine::cuda {
namespace {

Addresses::Config config_of(const Addresses::Config& of_steps, const Program& program, const MemoryPlan& plan) {
  return {.graph = of_steps.graph,
          .program = program,
          .parameters = of_steps.parameters,
          .plan = plan,
          .memory = of_steps.memory,
          .images = of_steps.images,
          .precision = of_steps.precision,
          .frozen = true};
}

}  // namespace

Evaluation::Evaluation(const Parts& parts)
    : deliver_(parts.deliver),
      program_(lower(parts.addresses.config().graph, evaluation_options(parts.request.fuses_pools))),
      plan_(plan_evaluation(program_, parts.request, parts.addresses.config().plan.regions)),
      addresses_(config_of(parts.addresses.config(), program_, plan_)),
      network_(addresses_, parts.convolutions, parts.linear) {}

void Evaluation::queue(const Batch& batch, Stream stream) {
  const Region& images = plan_.regions.images[0];
  copy_to_device(addresses_.at(images), batch.images, images.bytes, stream);
  synchronize(stream);
  convert_images(addresses_, deliver_, images, stream);
  network_.forward(stream);
}

// The bias of the last layer is added here, because the loss, which adds it in a step, does not run.
void Evaluation::read(std::span<float> logits, Stream stream) const {
  const Addresses::Config& config = addresses_.config();
  const auto outputs = static_cast<std::size_t>(config.graph.layers.back().channels);
  const auto stride = static_cast<std::size_t>(program_.logits.channels),
             images = static_cast<std::size_t>(config.images);
  const ParameterPlace& place =
      config.parameters.place(static_cast<int>(config.graph.layers.size()) - 1, model::ParameterRole::bias);
  const std::vector<float> bias = fetch<float>(addresses_.vector(place), outputs, stream);
  const std::vector<float> product =
      fetch_as_floats(addresses_.type(), addresses_.activation(program_.logits).data, images * stride, stream);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = product[i / outputs * stride + i % outputs] + bias[i % outputs];
}

}  // namespace chexbench::engine::cuda
