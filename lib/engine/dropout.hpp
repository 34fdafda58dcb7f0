// Which values dropout sets to 0 (Srivastava et al., "Dropout", JMLR 2014): a function of seed, rank, batch, layer,
// image and value alone. So all engines drop the same ones, in whatever order they come to them, and backward draws
// them again instead of keeping them.
#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace chexbench::engine {

// Each rank drops other values: together they see a batch of independent draws.
constexpr std::uint64_t dropout_seed(std::uint64_t model_seed, int rank) {
  return derive_seed(derive_seed(model_seed, fnv1a64("dropout")), static_cast<std::uint64_t>(rank));
}

// `batch` counts from 0 since the weights were those that training began with.
constexpr std::uint64_t dropout_batch_seed(std::uint64_t seed, std::int64_t batch) {
  return derive_seed(seed, static_cast<std::uint64_t>(batch));
}

// Of the values that one image has at one layer of the graph.
class DropoutMask {
 public:
  constexpr DropoutMask(std::uint64_t batch_seed, int layer, int image, double rate)
      : seed_(
            derive_seed(derive_seed(batch_seed, static_cast<std::uint64_t>(layer)), static_cast<std::uint64_t>(image))),
        rate_(rate),
        kept_(static_cast<float>(1.0 / (1.0 - rate))) {}

  // What value `i` is to be multiplied by, 0 or 1 / (1 - rate) as PyTorch's. Multiplied and not set, so that NaN stays
  // NaN.
  constexpr float factor(int i) const {
    RandomStream stream(seed_);
    stream.skip(static_cast<std::uint64_t>(i));  // a value may be any thread's
    return stream.uniform() < rate_ ? 0.0f : kept_;
  }

 private:
  std::uint64_t seed_;
  double rate_;
  float kept_;
};

}  // namespace chexbench::engine
