#include "engine/cuda/training/evaluation.hpp"

#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/training/network.hpp"

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
      plan_(plan_evaluation(program_, parts.request, parts.addresses.regions())),
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

namespace {

// Returns whether a value of the slice's buffer is infinite or NaN. Clears the step's scalars and uses their overflow
// flag.
bool is_bad(const Addresses& addresses, const Slice& slice, Stream stream) {
  kernels::StepScalars* const scalars = addresses.scalars();
  const Buffer& buffer = addresses.config().program.buffer(slice);
  const Slice whole{slice.buffer, 0, buffer.channels};
  clear(scalars, sizeof *scalars, stream);
  kernels::launch_overflow_check(addresses.type(), addresses.activation(whole).data,
                                 static_cast<std::int64_t>(addresses.rows(whole)) * buffer.channels, scalars, stream);
  kernels::StepScalars found;
  copy_to_host(&found, scalars, sizeof found, stream);
  synchronize(stream);
  return found.overflow != 0;
}

std::string name_of(const Addresses& addresses, const Node& node) {
  const model::Layer& layer = addresses.config().graph.layers[static_cast<std::size_t>(node.layer)];
  return layer.name.empty() ? "layer " + std::to_string(node.layer) : layer.name;
}

}  // namespace

std::string first_bad_layer(const Addresses& addresses, Network& network, Stream stream) {
  const Program& program = addresses.config().program;
  if (is_bad(addresses, program.input, stream)) return "the batch itself is not finite";
  std::vector<bool> begun(program.buffers.size());  // buffers that were not yet written have arbitrary contents
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    const bool is_held = node.out.exists() && !addresses.config().plan.is_left_out(static_cast<int>(i));
    if (is_held && !begun[static_cast<std::size_t>(node.out.buffer)]) {
      begun[static_cast<std::size_t>(node.out.buffer)] = true;
      const Slice whole{node.out.buffer, 0, program.buffer(node.out).channels};
      clear(addresses.activation(whole).data,
            static_cast<std::size_t>(addresses.rows(whole)) * static_cast<std::size_t>(whole.channels) *
                bytes_of(addresses.type()),
            stream);
    }
    network.forward(static_cast<int>(i), stream);
    if (is_held && is_bad(addresses, node.out, stream))
      return name_of(addresses, node) + " is the first layer whose output is not finite";
  }
  return "the output of every layer is finite";
}

}  // namespace chexbench::engine::cuda
