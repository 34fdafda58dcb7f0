#include "engine/onednn/buckets.hpp"

#include <algorithm>

#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

// The number of elements that a thread takes at a time: a run of both arrays fits into an L2 cache.
constexpr std::size_t kElementsAtATime = 16384;

}  // namespace

Buckets::Buckets(std::span<float> gradients, const std::vector<std::int64_t>& counts, model::BucketLimits limits) {
  std::size_t begin = 0;
  for (const model::BucketRange& range : model::plan_buckets(counts, limits)) {
    const auto count = static_cast<std::size_t>(range.elements);
    spans_.push_back({gradients.data() + begin, count});
    ends_.push_back(begin += count);
  }
}

void Buckets::complete(std::size_t ready, Reducer& reducer) {
  for (; next_ < spans_.size() && ends_[next_] <= ready; ++next_) reducer.reduce(spans_[next_], nullptr);
}

Accumulation::Accumulation(std::span<float> gradients, int batches)
    : gradients_(gradients), batches_(batches), sum_(batches > 1 ? FloatArray(gradients.size()) : FloatArray()) {}

void Accumulation::begin(int batch) {
  batch_ = batch;
  done_ = 0;
}

void Accumulation::complete(std::size_t ready) {
  if (batches_ == 1 || ready <= done_) return;
  const auto share = 1.0f / static_cast<float>(batches_);
  const bool is_first = batch_ == 0;
  const bool is_last = batch_ + 1 == batches_;
  parallel_for(static_cast<int>((ready - done_ + kElementsAtATime - 1) / kElementsAtATime), [&](int run) {
    const std::size_t first = done_ + static_cast<std::size_t>(run) * kElementsAtATime;
    const std::size_t end = std::min(ready, first + kElementsAtATime);
    float* const sum = sum_.data();
    float* const gradient = gradients_.data();
    for (std::size_t i = first; i < end; ++i) sum[i] = is_first ? gradient[i] : sum[i] + gradient[i];
    for (std::size_t i = first; is_last && i < end; ++i) gradient[i] = sum[i] * share;
  });
  done_ = ready;
}

}  // namespace chexbench::engine::onednn
