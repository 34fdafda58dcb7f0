#include "engine/cuda/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/errors.hpp"
#include "engine/arena.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kAlignBytes = 256;  // of cudaMalloc; vectors of 16 bytes need less

std::size_t element_bytes(spec::Precision precision) {
  const bool half = precision == spec::Precision::fp16 || precision == spec::Precision::bf16;
  return half ? 2 : 4;
}

std::size_t bytes_of(const Buffer& buffer, const MemoryRequest& request) {
  const std::size_t elements = static_cast<std::size_t>(buffer.channels) * static_cast<std::size_t>(buffer.height) *
                               static_cast<std::size_t>(buffer.width) * static_cast<std::size_t>(request.images);
  return (elements * element_bytes(request.precision) + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
}

// Times: node i runs forward at i, and backward at 2 n - 1 - i of n nodes.
class Schedule {
 public:
  explicit Schedule(const Program& program)
      : program_(program), activations_(program.buffers.size()), gradients_(program.buffers.size()) {
    const int nodes = static_cast<int>(program.nodes.size());
    use(activations_, program.input, 0);
    for (int i = 0; i < nodes; ++i) schedule(program.nodes[static_cast<std::size_t>(i)], i, 2 * nodes - 1 - i);
    use(gradients_, program.logits, nodes);  // the loss writes it
  }

  const std::vector<Lifetime>& activations() const { return activations_; }
  const std::vector<Lifetime>& gradients() const { return gradients_; }

 private:
  static bool reads_input_again(NodeKind kind) {
    return kind == NodeKind::convolution || kind == NodeKind::linear || kind == NodeKind::normalize ||
           kind == NodeKind::max_pool;
  }

  void schedule(const Node& node, int forward, int backward) {
    use(activations_, node.in, forward);
    if (node.kind == NodeKind::statistics) return;
    use(activations_, node.out, forward);
    use(activations_, node.residual, forward);
    if (reads_input_again(node.kind)) use(activations_, node.in, backward);
    // Without a residual the sign of the activation's input is worked out again from `in`; with one it is read off.
    if (node.residual.exists() && node.activation != Activation::none) use(activations_, node.out, backward);
    use(gradients_, node.out, backward);
    use(gradients_, node.residual, backward);
    if (node.in.buffer != program_.input.buffer) use(gradients_, node.in, backward);
  }

  void use(std::vector<Lifetime>& lifetimes, const Slice& slice, int time) {
    if (!slice.exists()) return;
    Lifetime& life = lifetimes[static_cast<std::size_t>(slice.buffer)];
    const bool unused = life.bytes == 0;
    life = {.bytes = 1,  // used; the true size depends on the batch
            .first_use = unused ? time : std::min(life.first_use, time),
            .last_use = unused ? time : std::max(life.last_use, time)};
  }

  const Program& program_;
  std::vector<Lifetime> activations_;
  std::vector<Lifetime> gradients_;
};

std::size_t parameter_bytes(const model::Graph& graph, const MemoryRequest& request) {
  const auto parameters = static_cast<std::size_t>(model::parameter_count(graph));
  const std::size_t moments = request.optimizer == spec::OptimizerKind::adam ? 2 : 1;
  const std::size_t copy = element_bytes(request.precision) == 4 ? 0 : element_bytes(request.precision);
  return parameters * (sizeof(float) * (2 + moments) + copy);
}

}  // namespace

MemoryPlan plan_memory(const model::Graph& graph, const Program& program, const MemoryRequest& request) {
  const Schedule schedule(program);
  std::vector<Lifetime> lifetimes;
  std::vector<std::size_t*> offsets;
  MemoryPlan plan{.activations = std::vector(program.buffers.size(), kNoMemory),
                  .gradients = std::vector(program.buffers.size(), kNoMemory),
                  .parameter_bytes = parameter_bytes(graph, request),
                  .workspace_bytes = request.workspace_bytes};
  const auto add = [&](const std::vector<Lifetime>& lives, std::vector<std::size_t>& result) {
    for (std::size_t i = 0; i < lives.size(); ++i) {
      if (lives[i].bytes == 0) continue;
      lifetimes.push_back(lives[i]);
      lifetimes.back().bytes = bytes_of(program.buffers[i], request);
      offsets.push_back(&result[i]);
    }
  };
  add(schedule.activations(), plan.activations);
  add(schedule.gradients(), plan.gradients);
  const ArenaPlan arena = plan_arena(lifetimes);
  for (std::size_t i = 0; i < offsets.size(); ++i) *offsets[i] = arena.offsets[i];
  plan.arena_bytes = arena.bytes;
  const Buffer& image = program.buffer(program.input);
  plan.batch_bytes = 2 * sizeof(float) * 3 * static_cast<std::size_t>(image.height) *
                     static_cast<std::size_t>(image.width) * static_cast<std::size_t>(request.images);
  return plan;
}

int largest_batch(const model::Graph& graph, const Program& program, MemoryRequest request,
                  std::size_t available_bytes) {
  const auto fits = [&](int images) {
    request.images = images;
    return plan_memory(graph, program, request).total_bytes() <= available_bytes;
  };
  if (!fits(1)) return 0;
  int good = 1, bad = 2;
  while (fits(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

void check_fits(const model::Graph& graph, const Program& program, const MemoryRequest& request,
                std::size_t available_bytes) {
  const std::size_t wanted = plan_memory(graph, program, request).total_bytes();
  if (wanted <= available_bytes) return;
  const int fitting = largest_batch(graph, program, request, available_bytes);
  throw DeviceError(fmt::format(
      "engine 'cuda': {} at batch {} takes {:.2f} GB of device memory, {:.2f} GB more than there are free; {}",
      graph.name, request.images, 1e-9 * static_cast<double>(wanted),
      1e-9 * static_cast<double>(wanted - available_bytes),
      fitting > 0 ? fmt::format("training.batch_size: {} would fit", fitting) : "not even one image fits"));
}

}  // namespace chexbench::engine::cuda
