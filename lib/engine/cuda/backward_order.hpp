// What backward does, node by node: which gradient goes where.
#pragma once

#include <vector>

#include "engine/cuda/program.hpp"

namespace chexbench::engine::cuda {

// A buffer's gradient has one place, and a second where several nodes read the buffer: the first writes the one, each
// other the second, and whoever reads the gradient adds both. Norms that read one dense block add to the one gradient
// in place instead. `second_again`: the second place is taken, and must be added to the first before it is written.
enum class Target { none, gradient, second, second_again };

struct BackwardStep {
  int node = 0;
  Target in = Target::none;
  Target residual = Target::none;
  bool two = false;  // the gradient of `out` lies in both places
  // Of a dense block (kernels/norm_lazy.hpp): a norm adds to the gradient, the first one writes it; a statistics node,
  // reached when all readers of its channels are through, turns it into the gradient of what was computed there.
  bool lazy = false;
  bool first = false;
};

// In the order of execution: nodes last to first, without statistics nodes that have nothing to do.
// @throws DeviceError where several norms share their input with something else, several layers of which one reads a
// part read a concatenation, or a dense block's last norm does not read all of it: those gradients would be wrong
std::vector<BackwardStep> backward_order(const Program& program);

}  // namespace chexbench::engine::cuda
