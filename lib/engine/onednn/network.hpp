// A network compiled from its graph: its ops, their memory, and its parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "core/clock.hpp"
#include "engine/dropout.hpp"
#include "engine/onednn/op.hpp"
#include "engine/onednn/planner.hpp"
#include "engine/step_parts.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::onednn {

struct PassTimes {
  double forward_s = 0;
  double backward_s = 0;
};

// Computes forward and backward of one network at one batch size. Owns all its tensors, weights and gradients. Not
// thread-safe; all functions return when their results are in memory.
class Network {
 public:
  // If `norms_frozen` is true, batch norms normalize by their running statistics in training too. Dropout draws its
  // masks from `dropout_seed` (engine/dropout.hpp), and is off if there is none. With Freeze::base only the last layer
  // is trained, backward ends after it, and there is no memory for more. Weights are zero until they are loaded into
  // the store.
  // @throws DeviceError if this engine cannot compute a layer
  // @throws std::bad_alloc if there is not enough memory
  Network(const Device& device, const model::Graph& graph, int images, bool norms_frozen,
          std::optional<std::uint64_t> dropout_seed = {}, spec::Freeze freeze = spec::Freeze::none);
  // Selects the batch, counted from 0 since training began, whose dropout masks the following passes use.
  void begin_batch(std::int64_t batch) { mode_.batch_seed = dropout_batch_seed(dropout_seed_, batch); }

  Tensor& input() const { return *input_; }                      // [images, 3, height, width]
  Tensor& logits() const { return *logits_; }                    // [images, outputs], f32
  Tensor& logits_gradient() const { return *logits_gradient_; }  // like logits

  // Reads input() and writes logits().
  void forward();
  // Does a forward pass of the trained network: batch norms use their running statistics and do not update them, and
  // dropout is off. backward() needs a forward() in between.
  void evaluate();
  // Computes the gradients of all trained parameters, given the last forward() and logits_gradient(), which the caller
  // fills. Calls after_op(ready) after each op, last op first: the first `ready` elements of store().gradients() are
  // then complete. `ready` never decreases.
  template <typename AfterOp>
  void backward(const AfterOp& after_op) {
    for (std::size_t i = ops_.size(); i-- > first_trained_;) {
      const double begin_s = now_s();
      ops_[i]->backward();
      times_[i].backward_s += now_s() - begin_s;
      after_op(ready_[i]);
    }
  }
  // The number of elements, from the first on, of the store's flat arrays that are trained.
  std::size_t trained() const { return ready_[first_trained_]; }
  // Must be called after the weights in the store have changed.
  void refresh_weights();
  // The same if only trained weights have changed.
  void refresh_trained_weights();
  // How long the ops of each kind took in the forward() and backward() passes since the last restart_times(), in the
  // order of forward. Reading the clock twice for an op of some 1e-3 s changes nothing.
  std::vector<OpTime> op_times() const;
  void restart_times() { times_.assign(ops_.size(), {}); }

  const Device& device() const { return device_; }  // fitted to the network
  ParameterStore& store() { return store_; }
  const ParameterStore& store() const { return store_; }
  // The running statistics of all batch norms, in the order of forward.
  const std::vector<BufferSlot>& buffers() const { return buffers_; }
  // Whether backward() uses Winograd's algorithm.
  bool uses_winograd() const;
  // Bytes of the arena and of the ops' own memory; the parameter store is not included.
  std::size_t held_bytes() const;

 private:
  void plan();

  const Device device_;  // fitted to the network
  const std::uint64_t dropout_seed_;
  PassMode mode_;
  Planner planner_;
  ParameterStore store_;
  std::vector<std::shared_ptr<void>> shared_;  // dense blocks
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<PassTimes> times_;   // of each op
  std::size_t first_trained_ = 0;  // index of the op with which backward ends
  // The elements of the flat gradient that are complete after op i's backward, of each op that has one.
  std::vector<std::size_t> ready_;
  std::vector<BufferSlot> buffers_;
  Tensor& scratchpad_;
  Tensor* input_ = nullptr;
  Tensor* logits_ = nullptr;
  Tensor* logits_gradient_ = nullptr;
};

// Copies a batch into the network's input tensor: converts from NHWC to NCHW and to the input's type (f32, or bf16
// rounded to nearest). f32 batches have 3 channels and are normalized already. u8 batches have one gray channel, which
// is copied to 3 channels, and u8_rgb batches have 3. Both are normalized as in the pipeline for f32:
// (value / 255 - mean[c]) / std[c], with ImageNet's mean and standard deviation. Copies all images of the input's
// shape, whether valid or not, on the threads of parallel.hpp.
void upload(const Batch& batch, Tensor& input);

}  // namespace chexbench::engine::onednn
