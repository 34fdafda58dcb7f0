#include "engine/cuda/program/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/errors.hpp"
#include "engine/arena.hpp"
#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {
namespace {

std::size_t buffer_bytes(const Buffer& buffer, int images, std::size_t bytes_each) {
  const std::size_t elements = static_cast<std::size_t>(buffer.channels) * static_cast<std::size_t>(buffer.height) *
                               static_cast<std::size_t>(buffer.width) * static_cast<std::size_t>(images);
  return (elements * bytes_each + kRegionAlignBytes - 1) / kRegionAlignBytes * kRegionAlignBytes;
}

// The first and last time at which something is used, while they are being determined.
struct Use {
  int first = 0;
  int last = -1;  // smaller than `first` if it is not used

  bool exists() const { return last >= first; }
  void at(int time) {
    first = exists() ? std::min(first, time) : time;
    last = std::max(last, time);
  }
};
using Uses = std::vector<Use>;

// Records when each tensor is used. Node i runs forward at time i. After that the logits are read, and in a step of
// training backward follows.
class Schedule {
 public:
  Schedule(const Program& program, const MemoryPlan& plan, bool trains, bool concurrent_weight_gradients)
      : activations(program.buffers.size()),
        gradients(program.buffers.size()),
        second_gradients(program.buffers.size()),
        winners(program.nodes.size()),
        program_(program),
        plan_(plan) {
    at(activations, program.input, 0);
    int time = 0;
    for (; time < static_cast<int>(program.nodes.size()); ++time) forward(time);
    at(activations, program.logits, time);
    if (!trains) return;
    at(gradients, program.logits, time);  // the loss writes it
    int gradient_step = -1;               // of the convolution whose weight gradient overlaps the following steps
    for (const BackwardStep& step : backward_order(program, plan.joins)) {
      if (node(step.node).kind == NodeKind::convolution) gradient_step = step.node;
      if (concurrent_weight_gradients && gradient_step >= 0) weight_gradient(gradient_step, time);
      backward(step, time++);
    }
  }

  Uses activations, gradients, second_gradients, winners;

 private:
  const Node& node(int i) const { return program_.nodes[static_cast<std::size_t>(i)]; }
  static void at(Uses& uses, const Slice& slice, int time) {
    if (slice.exists()) uses[static_cast<std::size_t>(slice.buffer)].at(time);
  }

  void forward(int i) {
    if (has_winners(node(i))) winners[static_cast<std::size_t>(i)].at(i);
    at(activations, plan_.input_of(program_, i), i);
    read_join(plan_.forward_joins[static_cast<std::size_t>(i)], i);
    if (plan_.is_left_out(i)) return;
    at(activations, node(i).out, i);
    at(activations, node(i).residual, i);
  }

  void backward(const BackwardStep& step, int time) {
    const Node& node = this->node(step.node);
    if (reads_input(node)) at(activations, plan_.input_of(program_, step.node), time);
    if (step.join.norm >= 0) join(step, time);
    if (step.joined && node.residual.exists()) return joined(step, time);
    if (reads_output(node)) at(activations, node.out, time);
    if (has_winners(node)) winners[static_cast<std::size_t>(step.node)].at(time);
    if (node.kind == NodeKind::statistics) at(gradients, node.in, time);
    at(gradients, node.out, time);
    if (step.two) at(second_gradients, node.out, time);
    write(step.residual, node.residual, time);
    write(step.in, node.in, time);
  }

  // The operands of a weight gradient.
  void weight_gradient(int convolution, int time) {
    at(activations, plan_.input_of(program_, convolution), time);
    at(gradients, node(convolution).out, time);
  }

  // Reads the inputs of a join's norms, if there is one.
  void read_join(const ResidualJoin& join, int time) {
    if (join.norm < 0) return;
    at(activations, node(join.norm).in, time);
    at(activations, join.residual_norm >= 0 ? node(join.residual_norm).in : node(join.norm).residual, time);
  }

  void join(const BackwardStep& step, int time) {
    const Node& norm = node(step.join.norm);
    read_join(step.join, time);
    at(gradients, norm.out, time);
    write(step.residual, norm.residual, time);
  }

  // A norm whose output's gradient has passed its activation and is also that of the residual.
  void joined(const BackwardStep& step, int time) {
    write(step.residual, node(step.node).residual, time);
    write(step.in, node(step.node).in, time);
  }

  static bool reads_input(const Node& node) {
    return node.kind == NodeKind::convolution || node.kind == NodeKind::linear || node.kind == NodeKind::normalize ||
           node.kind == NodeKind::statistics;
  }

  // If a norm adds no residual, the sign of its activation's input is recomputed from `in`. A copy's result is read
  // from the block, so that the packed tensor can be freed earlier.
  static bool reads_output(const Node& node) {
    if (node.kind == NodeKind::copy) return true;
    return node.activation != Activation::none && (node.residual.exists() || node.kind == NodeKind::bias);
  }

  void write(Target target, const Slice& slice, int time) {
    if (target == Target::gradient || target == Target::second_again) at(gradients, slice, time);
    if (target == Target::second || target == Target::second_again) at(second_gradients, slice, time);
  }

  const Program& program_;
  const MemoryPlan& plan_;
};

// Lifetimes of tensors, and where their offsets are to be written.
class Lifetimes {
 public:
  void add(const Use& use, std::size_t bytes, std::size_t& offset) {
    if (!use.exists()) return;
    lifetimes_.push_back({.bytes = bytes, .first_use = use.first, .last_use = use.last});
    offsets_.push_back(&offset);
  }
  // Writes the offsets and returns the bytes of the arena.
  std::size_t place() const {
    const ArenaPlan arena = plan_arena(lifetimes_);
    for (std::size_t i = 0; i < offsets_.size(); ++i) *offsets_[i] = arena.offsets[i];
    return arena.bytes;
  }

 private:
  std::vector<Lifetime> lifetimes_;
  std::vector<std::size_t*> offsets_;
};

// Places the tensors of `plan` and returns the bytes of the arena.
std::size_t plan_arena(const Program& program, const MemoryRequest& request, bool trains, MemoryPlan& plan) {
  const Schedule schedule(program, plan, trains, request.concurrent_weight_gradients);
  Lifetimes lifetimes;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const std::size_t bytes =
        buffer_bytes(program.buffers[i], request.images, bytes_of(element_type(request.precision)));
    lifetimes.add(schedule.activations[i], bytes, plan.activations[i]);
    lifetimes.add(schedule.gradients[i], bytes, plan.gradients[i]);
    lifetimes.add(schedule.second_gradients[i], bytes, plan.second_gradients[i]);
  }
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (!schedule.winners[i].exists()) continue;
    const Slice& out = program.nodes[i].out;
    Buffer packed = program.buffer(out);
    packed.channels = out.channels;
    lifetimes.add(schedule.winners[i], buffer_bytes(packed, request.images, 1), plan.winners[i]);
  }
  return lifetimes.place();
}

// Returns an empty plan.
MemoryPlan unplaced(const Program& program) {
  const std::size_t buffers = program.buffers.size();
  return {.activations = std::vector(buffers, kNoMemory),
          .gradients = std::vector(buffers, kNoMemory),
          .second_gradients = std::vector(buffers, kNoMemory),
          .winners = std::vector(program.nodes.size(), kNoMemory),
          .prologues = std::vector(program.nodes.size(), -1),
          .forward_joins = std::vector<ResidualJoin>(program.nodes.size())};
}

}  // namespace

const Slice& MemoryPlan::input_of(const Program& program, int i) const {
  const int norm = prologues[static_cast<std::size_t>(i)];
  return program.nodes[static_cast<std::size_t>(norm >= 0 ? norm : i)].in;
}

MemoryPlan plan_memory(const model::Graph& graph, const Program& program, const MemoryRequest& request) {
  MemoryPlan plan = unplaced(program);
  if (!request.prologues.empty()) plan.prologues = request.prologues;
  plan.joins = request.joins;
  if (!request.forward_joins.empty()) plan.forward_joins = request.forward_joins;
  const Program evaluation = lower(graph, evaluation_options(request.fuses_pools));
  MemoryPlan of_evaluation = unplaced(evaluation);
  plan.regions = lay_out(program, ParameterLayout(graph, program, request.freeze),
                         {.images = request.images,
                          .image_size = graph.image_size,
                          .outputs = graph.layers.back().channels,
                          .deliver = request.deliver,
                          .precision = request.precision,
                          .optimizer = request.optimizer,
                          .arena_bytes = std::max(plan_arena(program, request, true, plan),
                                                  plan_arena(evaluation, request, false, of_evaluation)),
                          .workspace_bytes = request.workspace_bytes,
                          .weight_gradient_workspace_bytes = request.weight_gradient_workspace_bytes,
                          .multiprocessors = request.multiprocessors,
                          .has_prologues = !request.prologues.empty() || !request.forward_joins.empty(),
                          .accumulates = request.accumulates,
                          .learning = request.learning});
  return plan;
}

MemoryPlan plan_evaluation(const Program& evaluation, const MemoryRequest& request, const DeviceRegions& regions) {
  MemoryPlan plan = unplaced(evaluation);
  plan_arena(evaluation, request, false, plan);
  plan.regions = regions;
  plan.regions.channel_offsets.clear();
  plan.regions.norm_offsets = norm_offsets(evaluation);
  return plan;
}

int largest_batch(const model::Graph& graph, const Program& program, MemoryRequest request,
                  std::size_t available_bytes) {
  const auto fits = [&](int images) {
    request.images = images;
    return plan_memory(graph, program, request).total_bytes() + request.reserve_bytes <= available_bytes;
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
  const std::size_t wanted = plan_memory(graph, program, request).total_bytes() + request.reserve_bytes;
  if (wanted <= available_bytes) return;
  const int fitting = largest_batch(graph, program, request, available_bytes);
  throw DeviceError(fmt::format(
      "engine 'cuda': {} at batch {} takes {:.2f} GB of device memory, {:.2f} GB of it left to libraries, which is "
      "{:.2f} GB more than is free; {}",
      graph.name, request.images, 1e-9 * static_cast<double>(wanted), 1e-9 * static_cast<double>(request.reserve_bytes),
      1e-9 * static_cast<double>(wanted - available_bytes),
      fitting > 0 ? fmt::format("training.batch_size: {} would fit", fitting) : "not even one image fits"));
}

}  // namespace chexbench::engine::cuda
