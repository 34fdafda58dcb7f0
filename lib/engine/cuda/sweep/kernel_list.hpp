// Lists the calls of the engine's own kernels in a step, from the program alone.
#pragma once

#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"
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

}  // namespace chexbench::engine::cuda
