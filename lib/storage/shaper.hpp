// Computes when the bytes of a request would arrive if the store were as slow as a StoreShape says.
#pragma once

#include <cstdint>
#include <mutex>

#include "core/random.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::storage {

// Models a store with one queue of requests and one link. A request begins when `iops` allows it, its answer comes one
// latency and one jitter (exponentially distributed, with mean `jitter_ms`) later, and its bytes share the bandwidth of
// the link with those of all other requests. Thread-safe. The same sequence of calls gives the same times.
class Shaper {
 public:
  Shaper(const spec::StoreShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  // Returns the time, in seconds, at which all `bytes` bytes of a request made at `now_s` have arrived.
  double arrival_s(double now_s, std::uint64_t bytes);

 private:
  double jitter_s();  // 0 without spec::StoreShape::jitter_ms

  const spec::StoreShape shape_;
  std::mutex mutex_;
  RandomStream random_;
  double next_begin_s_ = 0;
  double link_free_s_ = 0;
};

}  // namespace chexbench::storage
