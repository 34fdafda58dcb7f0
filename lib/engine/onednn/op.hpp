// The interface of an op: one stage of the compiled network, with a forward and a backward half that work on memory
// laid out by the planner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/onednn/parameter_store.hpp"
#include "engine/onednn/planner.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::onednn {

// State that is saved with the network but is not a parameter: the running mean or variance of a batch norm.
struct BufferSlot {
  model::TensorInfo info;
  std::vector<float>* values = nullptr;  // the op's memory; info.count() values, then padding
};

// An op goes through these phases, together with all others of its network:
//   1. The ops are constructed in the order of forward.
//   2. plan_forward() is called in the order of forward, then plan_backward() in the opposite order; of ops ahead of
//      the first one that is trained add_parameters(), because their backward never runs.
//   3. The planner and the parameter store allocate memory, then bind() is called.
//   4. forward() and backward() run any number of times. Both return when their results are in memory.
// Not thread-safe: one thread drives all ops, and each op spreads its work over the threads of parallel.hpp.
// Constructors and bind() let dnnl::error through if oneDNN refuses a primitive.
class Op {
 public:
  virtual ~Op() = default;
  // Its kind, for times by kind: "convolution 3x3".
  virtual std::string kind() const = 0;
  // Whether it computes gradients by Winograd's algorithm (convolution_op.hpp).
  virtual bool uses_winograd() const { return false; }
  // Tells the planner which tensors forward() reads and writes.
  virtual void plan_forward(Planner& planner) = 0;
  // Tells the planner which tensors backward() reads and writes, fetches the gradients of the op's outputs, registers
  // those of its inputs, and adds the op's parameters to the store.
  virtual void plan_backward(Planner& planner, ParameterStore& store) = 0;
  // Adds the op's parameters to the store, like plan_backward(), and does nothing else.
  virtual void add_parameters(ParameterStore& store) { static_cast<void>(store); }
  // Builds everything that needs the addresses of tensors and parameters, which are final here.
  virtual void bind() {}

  virtual void forward() = 0;
  virtual void backward() = 0;
  // Must be called after the weights have changed: the op renews the copies that it keeps in other layouts.
  virtual void refresh_weights() {}

  // The pointers stay valid as long as the op.
  virtual std::vector<BufferSlot> buffers() { return {}; }
  // Bytes that the op holds in addition to its tensors in the arena and its parameters in the store.
  virtual std::size_t held_bytes() const { return 0; }
  // Bytes of the shared scratchpad that the op needs while it runs, after it was planned; the ops use it one after
  // another.
  virtual std::size_t scratchpad_bytes() const { return 0; }
};

// The settings that distinguish a training pass, a pass with frozen batch norms, and an evaluation. Ops keep a
// reference to the network's PassMode and read it in every pass.
struct PassMode {
  bool running_statistics = false;  // batch norms normalize by them and do not update them
  bool drops = true;                // dropout layers are active
  std::uint64_t batch_seed = 0;     // dropout_batch_seed() of this batch
  bool any_threads = false;         // the same bits on any number of threads, even if that takes longer
};

// A range of a tensor's channels: `blocks` blocks, starting at `first_channel`, which is a multiple of the block size.
struct ChannelRange {
  int first_channel = 0;
  int blocks = 0;
};

// Adds gradients[keep], gradients[keep + 1] and so on to gradients[0], in place. Callers whose kernels read two
// gradients at once pass keep = 2, others 1. The gradients must not be empty, and have the same shape and type.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep,
                          ChannelRange range) {
  for (std::size_t i = keep; i < gradients.size(); ++i) {
    const View x = gradients[i]->view(range.first_channel), y = gradients[0]->view(range.first_channel);
    const TensorShape& shape = gradients[0]->shape;
    const Kernels& kernels_of_type = kernels(device.isa, gradients[0]->type, device.block);
    for_all(Division::of(range.blocks, shape.images, gradients[0]->layout),
            [&](Work work) { kernels_of_type.add(x, y, shape.pixels(), work); });
  }
}
// The same for all channels.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep) {
  sum_gradients(device, gradients, keep, {0, gradients[0]->blocks()});
}

}  // namespace chexbench::engine::onednn
