// The settings that distinguish a training pass, a pass with frozen batch norms, and an evaluation.
#pragma once

#include <cstdint>

namespace chexbench::engine::onednn {

// Ops keep a reference to the network's PassMode and read it in every pass.
struct PassMode {
  bool running_statistics = false;  // batch norms normalize by them and do not update them
  bool drops = true;                // dropout layers drop values
  std::uint64_t batch_seed = 0;     // dropout_batch_seed() of this batch
  bool any_threads = false;         // the same bits on any number of threads, even if that takes longer
};

}  // namespace chexbench::engine::onednn
