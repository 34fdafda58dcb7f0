// Lists the calls of the engine's own kernels in a step, from the program alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"
#include "engine/cuda/sweep/operands.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// A call, and how often one step makes it. Calls for settings other than the defaults (SGD, color images, several
// batches a step) are listed with no runs.
struct KernelUse {
  KernelCall call;
  int runs = 0;  // with separate passes (training.fused false)
  // With training.fused, if convolutions compute as much as possible of neighbouring norms; pools that norms can
  // compute are then part of these, in every precision.
  int fused_runs = 0;
};

// Returns the distinct calls of a training step with Adam on gray images, in the order in which they first appear.
// The walk over the program is that of Network and Update; tests/engine/cuda/sweep compares the list with their
// launches.
// @throws DeviceError for a network that the engine cannot compute
std::vector<KernelUse> kernel_list(const model::Graph& graph, int images, spec::Precision precision);

// The part of a call that is recomputed on the host: all of it would take a CPU minutes.

struct ItemRange {
  std::int64_t begin = 0, end = 0;
};

// Items and channels of a call that are computed together. Results by item are compared if `compares_items`, those by
// channel or of the whole call if `compares_sums`.
struct Selection {
  std::vector<ItemRange> items;
  int channel = -1;  // the only one, or -1 for all
  bool compares_items = true, compares_sums = true;

  std::int64_t count() const;  // of items
};

// Returns the selections with which a call is checked:
// - small kernels: everything;
// - elementwise kernels: about 65,536 values (at least 64 rows), all channels of rows that are spread evenly from the
//   first to the last, or runs of 64 elements of flat arrays;
// - pools: whole images, at least the first, the middle and the last;
// - sums over rows: their results by row as above; and all rows of eight channels, one of each place in a vector of
//   eight, spread from the first to the last.
std::vector<Selection> selections(const KernelCall& call);

}  // namespace chexbench::engine::cuda
