// One step of the compiled network: a forward and a backward half that work on planned memory.
#pragma once

#include <vector>

#include "engine/onednn/parameter_store.hpp"
#include "engine/onednn/planner.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine {

// A buffer that is no parameter: the running mean or variance of a batch norm.
struct BufferSlot {
  model::TensorInfo info;
  std::vector<float>* values = nullptr;  // the first info.count() are it
};

// Built in the order of forward; then plan_forward() of all in that order, plan_backward() of all in the opposite
// order; then memory is placed and bind() is called. After that forward() and backward() run any number of times.
class Op {
 public:
  virtual ~Op() = default;
  // Says which tensors forward uses.
  virtual void plan_forward(Planner& planner) = 0;
  // Says which tensors backward uses, takes the gradients of its outputs, offers those of its inputs, and adds its
  // parameters: all in the order of backward.
  virtual void plan_backward(Planner& planner, ParameterStore& store) = 0;
  virtual void bind() {}

  virtual void forward() = 0;
  virtual void backward() = 0;
  // The weights have changed.
  virtual void refresh_weights() {}

  virtual std::vector<BufferSlot> buffers() { return {}; }
  // Bytes held beside the arena and the parameter store.
  virtual std::size_t held_bytes() const { return 0; }
  virtual std::size_t scratchpad_bytes() const { return 0; }
};

}  // namespace chexbench::engine
