#include "engine/cuda/training/bad_layer.hpp"

#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda {
namespace {

// Returns whether a value of the slice's buffer is infinite or NaN. Clears the step's scalars and uses their overflow
// flag.
bool is_bad(const Addresses& addresses, const Slice& slice, Stream stream) {
  const Region& region = addresses.config().plan.regions.scalars;
  auto* const scalars = addresses.at<kernels::StepScalars>(region);
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
