#include "engine/onednn/buckets.hpp"

namespace chexbench::engine::onednn {

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

}  // namespace chexbench::engine::onednn
