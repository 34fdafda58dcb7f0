// The device memory of a step, worked out before a device is asked for any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/cuda/device_regions.hpp"
#include "engine/cuda/program.hpp"
#include "model/graph.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

struct MemoryRequest {
  int images = 0;  // of one step
  spec::Precision precision = spec::Precision::f32;
  spec::OptimizerKind optimizer = spec::OptimizerKind::adam;
  Deliver deliver = Deliver::f32;
  std::size_t workspace_bytes = 0;  // the largest that a convolution's plan wants
  std::size_t reserve_bytes = 0;    // to be left free, for what libraries take for themselves
  int multiprocessors = 132;
  bool accumulates = false;    // gradients over several batches of a step
  std::vector<int> prologues;  // of each node, the norm that it computes on its way (prologue.hpp), or -1; none: empty
};

// All sizes in bytes. Activations and their gradients share one arena: each has its memory from its first write to its
// last read in backward, and what is read again in backward (inputs of convolutions and batch norms) lives until then.
// Offsets are in the arena, kNoMemory where there is nothing to hold.
struct MemoryPlan {
  std::vector<std::size_t> activations;       // of each buffer of the program
  std::vector<std::size_t> gradients;         // of each buffer's gradient; the images have none
  std::vector<std::size_t> second_gradients;  // from the readers behind the first: backward_order.hpp
  std::vector<std::size_t> winners;           // of each node: which place of a window a max pool took, u8 each
  std::vector<int> prologues;                 // of each node, as in the request; -1: it reads what its own input is
  DeviceRegions regions;

  // What node i of the program reads: the norm's input where it computes the norm itself.
  const Slice& input_of(const Program& program, int i) const;
  // Whether norm i is left to the node behind it, and its output held nowhere.
  bool is_left_out(int i) const { return std::ranges::find(prologues, i) != prologues.end(); }

  std::size_t arena_bytes() const { return regions.arena.bytes; }
  std::size_t total_bytes() const { return regions.bytes; }
};

inline constexpr std::size_t kNoMemory = static_cast<std::size_t>(-1);

// Of a step of training; the arena is large enough for an evaluation of the same batch, too.
MemoryPlan plan_memory(const model::Graph& graph, const Program& program, const MemoryRequest& request);

// Of forward alone, between steps that were planned by the same request: `evaluation` is the graph lowered with
// kEvaluation, `regions` are theirs. By channel it has the norms' running statistics alone.
MemoryPlan plan_evaluation(const Program& evaluation, const MemoryRequest& request, const DeviceRegions& regions);

// The most images a step can have in `available_bytes`; 0 where not even one fits.
int largest_batch(const model::Graph& graph, const Program& program, MemoryRequest request,
                  std::size_t available_bytes);

// @throws DeviceError where the plan does not fit: how many bytes are missing, and which batch size would fit
void check_fits(const model::Graph& graph, const Program& program, const MemoryRequest& request,
                std::size_t available_bytes);

}  // namespace chexbench::engine::cuda
