// Decides which values dropout sets to 0 (Srivastava et al., "Dropout", JMLR 2014). The decision is a function of seed,
// rank, batch, layer, image and value index alone. So all engines drop the same values, regardless of the order in
// which they visit them, and backward draws the mask again instead of storing it.
#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace chexbench::engine {

// Returns a seed that differs between ranks, so that together they train on independent draws.
constexpr std::uint64_t dropout_seed(std::uint64_t model_seed, int rank) {
  return derive_seed(derive_seed(model_seed, fnv1a64("dropout")), static_cast<std::uint64_t>(rank));
}

// Returns the seed of one batch. `batch` counts from 0 at the initial weights.
constexpr std::uint64_t dropout_batch_seed(std::uint64_t seed, std::int64_t batch) {
  return derive_seed(seed, static_cast<std::uint64_t>(batch));
}

// The mask for the values of one image at one layer of the graph. `rate` is the share of values that is dropped.
// Immutable, hence thread-safe.
class DropoutMask {
 public:
  constexpr DropoutMask(std::uint64_t batch_seed, int layer, int image, double rate)
      : seed_(
            derive_seed(derive_seed(batch_seed, static_cast<std::uint64_t>(layer)), static_cast<std::uint64_t>(image))),
        rate_(rate),
        kept_(static_cast<float>(1.0 / (1.0 - rate))) {}

  // Returns the factor for value `i`: 0, or 1 / (1 - rate) as in PyTorch. Callers multiply instead of setting zeros, so
  // that NaN stays NaN.
  constexpr float factor(int i) const {
    RandomStream stream(seed_);
    stream.skip(static_cast<std::uint64_t>(i));  // Random access: any thread may compute any value.
    return stream.uniform() < rate_ ? 0.0f : kept_;
  }

 private:
  std::uint64_t seed_;
  double rate_;
  float kept_;
};

}  // namespace chexbench::engine
