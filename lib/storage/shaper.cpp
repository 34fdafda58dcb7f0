#include "storage/shaper.hpp"

#include <algorithm>
#include <cmath>

namespace chexbench::storage {

double Shaper::jitter_s() { return shape_.jitter_ms ? -std::log(1 - random_.uniform()) * *shape_.jitter_ms * 1e-3 : 0; }

double Shaper::arrival_s(double now_s, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const double begin_s = std::max(now_s, next_begin_s_);
  if (shape_.iops) next_begin_s_ = begin_s + 1 / *shape_.iops;
  const double transfer_s =
      shape_.bandwidth_mb_per_s ? static_cast<double>(bytes) / (*shape_.bandwidth_mb_per_s * 1e6) : 0;
  // The link is reserved from now on, not from the answer on, so that a slow answer does not delay those before it.
  link_free_s_ = std::max(link_free_s_, now_s) + transfer_s;
  const double answer_s = begin_s + shape_.latency_ms.value_or(0) * 1e-3 + jitter_s();
  return std::max(link_free_s_, answer_s + transfer_s);
}

}  // namespace chexbench::storage
