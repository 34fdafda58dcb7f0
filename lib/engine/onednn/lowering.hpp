// From layers to ops: fuses batch norm with the activation and the residual add after it, and lays what is
// concatenated out in one tensor.
#pragma once

#include <memory>
#include <vector>

#include "engine/onednn/dense_ops.hpp"
#include "engine/onednn/op.hpp"
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
  bool frozen = false;                       // batch norms use their running statistics
  const std::uint64_t* step_seed = nullptr;  // of dropout, read at each step; null: no dropout. Outlives the ops.
};

// `device`, `planner` and `scratchpad` must outlive the ops.
// @throws DeviceError for a layer that this engine cannot compute
Lowered lower(const Device& device, const model::Graph& graph, LoweringOptions options, Planner& planner,
              const Tensor& scratchpad);

}  // namespace chexbench::engine
