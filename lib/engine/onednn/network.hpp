// A graph compiled into ops and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/dropout.hpp"
#include "engine/onednn/op.hpp"
#include "engine/onednn/pass_mode.hpp"

namespace chexbench::engine {

// Forward and backward of one network on one batch size. Not thread-safe.
class Network {
 public:
  // `frozen`: batch norms use their running statistics. `dropout_seed`: of what dropout drops; none: it drops nothing.
  // `device` must outlive the network. @throws DeviceError for a layer that this engine cannot compute
  Network(const Device& device, const model::Graph& graph, int images, bool frozen,
          std::optional<std::uint64_t> dropout_seed = {});
  // The batch whose units dropout drops from now on.
  void begin_batch(std::int64_t batch) { mode_.batch_seed = dropout_batch_seed(dropout_seed_, batch); }

  Tensor& input() const { return *input_; }                      // nchw
  Tensor& logits() const { return *logits_; }                    // flat
  Tensor& logits_gradient() const { return *logits_gradient_; }  // flat; to be filled between forward and backward

  void forward();
  // The trained network's answer: running statistics normalize, nothing is dropped. No backward may follow.
  void evaluate();
  // Calls after_op(i) after each op; the gradients up to gradients_ready(i) of the flat array are then complete.
  template <typename AfterOp>
  void backward(const AfterOp& after_op) {
    for (std::size_t i = ops_.size(); i-- > 0;) {
      ops_[i]->backward();
      after_op(ready_[i]);
    }
  }
  void refresh_weights();

  ParameterStore& store() { return store_; }
  const ParameterStore& store() const { return store_; }
  const std::vector<BufferSlot>& buffers() const { return buffers_; }
  // Memory beside the parameter store.
  std::size_t held_bytes() const;

 private:
  void plan();

  const std::uint64_t dropout_seed_;
  PassMode mode_;
  Planner planner_;
  ParameterStore store_;
  std::vector<std::shared_ptr<void>> shared_;  // dense blocks
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<std::size_t> ready_;  // after op i's backward: elements of the flat gradient that are complete
  std::vector<BufferSlot> buffers_;
  Tensor& scratchpad_;
  Tensor* input_ = nullptr;
  Tensor* logits_ = nullptr;
  Tensor* logits_gradient_ = nullptr;
};

}  // namespace chexbench::engine
