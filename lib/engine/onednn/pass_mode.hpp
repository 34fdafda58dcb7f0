// How the passes of a network differ from those of an ordinary training step.
#pragma once

#include <cstdint>

namespace chexbench::engine {

// Ops look at it in every pass.
struct PassMode {
  bool running_statistics = false;  // batch norms use them, and leave them alone
  bool drops = true;                // dropout
  std::uint64_t batch_seed = 0;     // of dropout
};

}  // namespace chexbench::engine
