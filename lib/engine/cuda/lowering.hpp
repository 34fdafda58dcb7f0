// From the layers of a network to the nodes of a step.
#pragma once

#include "engine/cuda/program.hpp"
#include "model/graph.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// Images get channels that no layer has, and outputs of linear layers are padded to a multiple: tensor cores want rows
// of whole vectors. What is added is zero forward and gets no gradient.
inline constexpr int kInputChannels = 4;
inline constexpr int kOutputMultiple = 8;

struct LoweringOptions {
  bool frozen = false;   // batch norms use their running statistics: no statistics nodes
  bool dropout = false;  // whether it drops anything: else it has no nodes
};

// As a trained network is used: running statistics normalize, nothing is dropped.
inline constexpr LoweringOptions kEvaluation{.frozen = true, .dropout = false};

LoweringOptions lowering_options(const spec::ModelSpec& model);

// - Batch norm, residual add and activation become one node.
// - The feature maps of a dense block lie in one buffer, and each is looked at once for its statistics, whatever the
//   number of batch norms that read it (Huang et al.'s networks normalize each map up to 24 times).
// - An average pool behind a 1x1 convolution goes before it: both are linear and the pool weighs all channels alike,
//   so the result is the same for a quarter of the work.
// - A bias becomes a node with the activation behind it; that of the last layer is left to the loss.
// - Flattening, and an adaptive pool to the size that is there, are no nodes: see NodeKind::linear.
// @throws DeviceError for a layer that the engine cannot compute
Program lower(const model::Graph& graph, LoweringOptions options = {});

}  // namespace chexbench::engine::cuda
