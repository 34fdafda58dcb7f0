// Slows a store down, to study stores that are not available, such as a filer across the building or a bucket in
// another region.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "core/random.hpp"
#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The clock of a shaped store; tests replace it so that they need not wait. Both functions must be thread-safe.
struct StoreClock {
  std::function<double()> now_s;
  // Sleeps until `until_s`. Returns false if `stop` was requested or a signal arrived first.
  std::function<bool(double until_s, const std::stop_token& stop)> sleep_until_s;
};
// The clock of this machine.
StoreClock steady_store_clock();

// Returns a store that delivers the bytes of `store` as late as `shape` demands. A request is a whole file, or a block
// of 1 MiB of a stream, the size of an NFS client's request. Listings are not slowed down, because no measurement
// includes them. The delays are pseudo-random with a fixed seed. Shards of a local store stay mapped.
std::shared_ptr<const Store> shape_store(std::shared_ptr<const Store> store, const spec::StoreShape& shape,
                                         StoreClock clock = steady_store_clock());

// Computes when the bytes of a request would arrive if the store were as slow as a StoreShape.
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
