// When the bytes of a request would be there, if the store were slower than it is.
#pragma once

#include <cstdint>
#include <mutex>

#include "core/random.hpp"
#include "spec/experiment.hpp"

namespace chexbench::storage {

// A store with a queue of requests and one link: a request begins when `iops` allows, its answer comes a latency and a
// jitter later, and its bytes share the link's bandwidth with all others. Thread-safe; the same calls give the same
// times.
class Shaper {
 public:
  Shaper(const spec::StoreShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  // The time at which a request made at `now_s` has all its bytes.
  double arrival_s(double now_s, std::uint64_t bytes);

 private:
  double jitter_s();

  const spec::StoreShape shape_;
  std::mutex mutex_;
  RandomStream random_;
  double next_begin_s_ = 0;
  double link_free_s_ = 0;
};

}  // namespace chexbench::storage
