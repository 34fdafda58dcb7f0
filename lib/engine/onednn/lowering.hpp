// Translates the layers of a graph into ops. Fuses each batch norm with the residual add and the activation after it,
// and gives all parts of a concatenation one tensor.
#pragma once

#include <memory>
#include <vector>

#include "engine/onednn/norm_ops.hpp"
#include "engine/onednn/op.hpp"
#include "model/graph.hpp"

namespace chexbench::engine::onednn {

// The tensors belong to the planner.
struct Lowered {
  std::vector<std::unique_ptr<Op>> ops;       // in the order of forward
  std::vector<std::shared_ptr<void>> shared;  // owns the data shared by several ops; must outlive them
  Tensor* input = nullptr;                    // Layout::nchw, or channels_last if the device is
  Tensor* logits = nullptr;                   // Layout::flat, f32
};

struct LoweringOptions {
  int images = 0;        // the batch size
  bool dropout = false;  // if false, dropout layers become no op
};

// Returns the ops in the order of forward, not planned yet. `device`, `mode`, `planner` and `scratchpad` must outlive
// them.
// @throws DeviceError if this engine cannot compute a layer; the message names the layer and the reason
Lowered lower(const Device& device, const model::Graph& graph, LoweringOptions options, const PassMode& mode,
              Planner& planner, const Tensor& scratchpad);

}  // namespace chexbench::engine::onednn
