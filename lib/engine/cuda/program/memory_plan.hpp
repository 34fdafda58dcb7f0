// Plans the device memory of a step before any of it is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/device_regions.hpp"
#include "engine/cuda/program/program.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// The inputs of the plan, besides the network.
struct MemoryRequest {
  int images = 0;  // of one batch
  spec::Precision precision = spec::Precision::f32;
  spec::OptimizerKind optimizer = spec::OptimizerKind::adam;
  Deliver deliver = Deliver::f32;
  std::size_t workspace_bytes = 0;  // the largest that a plan of a convolution or a linear layer needs
  std::size_t reserve_bytes = 0;    // left free for libraries' own allocations
  int multiprocessors = 132;
  bool accumulates = false;  // gradients are summed over several batches of a step
  LearningRequest learning;
  bool concurrent_weight_gradients = false;         // they run concurrently with the steps of backward that follow them
  std::size_t weight_gradient_workspace_bytes = 0;  // a separate one, if they are concurrent
  spec::Freeze freeze = spec::Freeze::none;         // a frozen base has no moments
  bool fuses_pools = true;                          // as the program was lowered; an evaluation is lowered likewise
  // For each node, the norm that it computes itself while it reads that norm's input (conv_fusions.hpp), or -1. Empty
  // if no node does.
  std::vector<int> prologues;
  // For each node, the join that its data gradient computes (conv_fusions.hpp). Empty if none does.
  std::vector<ResidualJoin> joins;
  // The same for forward. If a join in `joins` reads a residual that is a norm's result, that norm is not left to a
  // join in forward.
  std::vector<ResidualJoin> forward_joins;
};

// The offsets of all tensors of a step, in bytes. Activations and their gradients share one arena. Each has its memory
// from its first write to its last read in forward and backward; for example, the inputs of convolutions and batch
// norms are read again in backward and are kept until then. Offsets are relative to the arena, and kNoMemory for
// tensors without memory.
struct MemoryPlan {
  std::vector<std::size_t> activations;       // of each buffer of the program
  std::vector<std::size_t> gradients;         // of each buffer's gradient; none for the images
  std::vector<std::size_t> second_gradients;  // for readers after the first: see backward_order.hpp
  std::vector<std::size_t> winners;           // of each max pool: the place in each window that won, u8
  std::vector<int> prologues;                 // of each node, as in the request; -1 if it reads its own input
  std::vector<ResidualJoin> joins;            // as in the request
  std::vector<ResidualJoin> forward_joins;    // of each node, as in the request; without a norm if it computes no join
  DeviceRegions regions;

  // Returns the slice that node i of the program reads: the norm's input if the node computes the norm itself.
  const Slice& input_of(const Program& program, int i) const;
  // Returns whether norm i is computed by a node after it. Then its output is not stored, unless that node writes the
  // result of the join to which the norm adds a residual.
  bool is_left_out(int i) const {
    return std::ranges::find(prologues, i) != prologues.end() ||
           std::ranges::find(forward_joins, i, &ResidualJoin::norm) != forward_joins.end() ||
           std::ranges::find(forward_joins, i, &ResidualJoin::residual_norm) != forward_joins.end();
  }

  std::size_t arena_bytes() const { return regions.arena.bytes; }
  std::size_t total_bytes() const { return regions.bytes; }
};

inline constexpr std::size_t kNoMemory = static_cast<std::size_t>(-1);

// Returns the plan of a step of training. The arena is also large enough for an evaluation with the same batch size.
// @throws DeviceError if the engine cannot compute the network
MemoryPlan plan_memory(const model::Graph& graph, const Program& program, const MemoryRequest& request);

// Returns the plan of forward alone, which runs between steps that were planned with the same request. `evaluation` is
// the graph lowered with evaluation_options(); `regions` are the steps' regions. The evaluation's only values by
// channel are the running statistics.
// @throws DeviceError if the engine cannot compute the network
MemoryPlan plan_evaluation(const Program& evaluation, const MemoryRequest& request, const DeviceRegions& regions);

// Returns the largest batch whose plan and reserve fit into `available_bytes`, or 0 if not even one image does.
// @throws DeviceError if the engine cannot compute the network
int largest_batch(const model::Graph& graph, const Program& program, MemoryRequest request,
                  std::size_t available_bytes);

// Checks that plan and reserve fit into `available_bytes`.
// @throws DeviceError if they do not; the message gives the number of missing bytes and the batch size that would fit
void check_fits(const model::Graph& graph, const Program& program, const MemoryRequest& request,
                std::size_t available_bytes);

}  // namespace chexbench::engine::cuda
