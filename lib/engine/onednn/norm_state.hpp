// The per-channel half of a batch norm: statistics, running averages, and the factors that its kernels multiply by.
// Formulas: Ioffe and Szegedy, "Batch normalization", ICML 2015, as PyTorch computes them.
#pragma once

#include <vector>

#include "engine/onednn/division.hpp"
#include "engine/onednn/op.hpp"
#include "engine/onednn/pass_mode.hpp"

namespace chexbench::engine {

class NormState {
 public:
  // `mode` must outlive the state.
  NormState(const model::Layer& layer, int block, const PassMode& mode);

  // In the order of backward.
  void add_parameters(ParameterStore& store);
  std::vector<BufferSlot> buffers();

  // The channels of `block` will be normalized by the statistics of this batch: `count` values each, of which the sums
  // and the sums of squares are given. By the running ones where the mode says so.
  void set_from_sums(int block, const ChannelSums& sums, double count);
  // The same from statistics that are known already: mean and biased variance of each channel of the block.
  void set_from_statistics(int block, const float* mean, const float* variance, double count);

  // Writes the gradients of weight and bias of the channels of `block`, and a, b, c of kernels.hpp, from the sums
  // of g and of g * (x - mean).
  void set_gradients(int block, const ChannelSums& sums, double count);
  // a alone, which is known before the sums.
  const float* gradient_factor() const { return scale_.data(); }

  const float* scale() const { return scale_.data(); }
  const float* shift() const { return shift_.data(); }
  const float* mean() const { return mean_.data(); }
  const float* b() const { return b_.data(); }
  const float* c() const { return c_.data(); }

 private:
  void update_running(int channel, double mean, double variance, double count);
  void set_affine(int channel, double mean, double variance);

  const std::string name_;
  const int channels_;
  const int block_;
  const PassMode& mode_;
  const double epsilon_;
  ParameterSlot* weight_ = nullptr;
  ParameterSlot* bias_ = nullptr;
  std::vector<float> running_mean_, running_variance_;
  std::vector<float> mean_, inverse_deviation_, scale_, shift_, b_, c_;  // scale_ is also a
};

// Mean and biased variance from sums over `count` values.
struct Moments {
  double mean = 0;
  double variance = 0;
  static Moments of(double sum, double sum_squares, double count);
};

}  // namespace chexbench::engine
