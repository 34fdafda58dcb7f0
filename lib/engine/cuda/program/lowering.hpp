// Turns the layers of a network into the nodes of a step.
#pragma once

#include "engine/cuda/program/program.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// The channels of the images, and the multiple to which the outputs of a linear layer are padded, because tensor
// cores need rows of whole vectors. The added channels and outputs are zero in forward and get no gradient.
inline constexpr int kInputChannels = 4;
inline constexpr int kOutputMultiple = 8;

struct LoweringOptions {
  bool frozen = false;      // batch norms use their running statistics, so there are no statistics nodes
  bool dropout = false;     // whether dropout is active; if not, it has no nodes
  bool fuses_pools = true;  // norms compute the pool after them, if they can
};

// Returns the options for evaluating a trained network: norms use their running statistics, dropout is off.
constexpr LoweringOptions evaluation_options(bool fuses_pools) {
  return {.frozen = true, .dropout = false, .fuses_pools = fuses_pools};
}

// Returns the options for a training of `model`; `fused` is training.fused.
LoweringOptions lowering_options(const spec::ModelSpec& model, bool fused);

// Returns the program of a step. The lowering changes the layer graph in these ways:
// - A batch norm, its residual add and its activation become one node. With the pools below, a training step of
//   ResNet50 moves 342 MB per image instead of 478 (calculated, fp16).
// - The feature maps of a dense block are in one buffer. The statistics of each map are computed once, no matter how
//   many batch norms read it (in the networks of Huang et al., up to 24).
// - An average pool after a 1x1 convolution goes before it. Both are linear and the pool weighs all channels alike,
//   so the result is the same for a quarter of the work.
// - A pool that alone reads a norm without a residual becomes part of the norm's node, if the kernels take its window
//   (kernels/pool.hpp): the full-size map between them is never written.
// - A bias and the activation after it become one node; the bias of the last layer is left to the loss.
// - A flatten layer, and an adaptive pool to the size that its input already has, become no nodes: see
//   NodeKind::linear.
// @throws DeviceError, naming network and layer, for a layer that the engine cannot compute
Program lower(const model::Graph& graph, LoweringOptions options = {});

}  // namespace chexbench::engine::cuda
