// From layers to ops: fuses batch norm with the activation and the residual add after it, and lays what is
// concatenated out in one tensor.
#pragma once

#include <memory>
#include <vector>

#include "engine/onednn/dense_ops.hpp"
#include "engine/onednn/op.hpp"
#include "engine/onednn/pass_mode.hpp"
#include "model/graph.hpp"

namespace chexbench::engine {

struct Lowered {
  std::vector<std::unique_ptr<Op>> ops;       // in the order of forward
  std::vector<std::shared_ptr<void>> shared;  // what several ops refer to
  Tensor* input = nullptr;
  Tensor* logits = nullptr;
};

struct LoweringOptions {
  int images = 0;
  bool dropout = false;  // whether it drops anything
};

// `device`, `mode`, `planner` and `scratchpad` must outlive the ops.
// @throws DeviceError for a layer that this engine cannot compute
Lowered lower(const Device& device, const model::Graph& graph, LoweringOptions options, const PassMode& mode,
              Planner& planner, const Tensor& scratchpad);

}  // namespace chexbench::engine
