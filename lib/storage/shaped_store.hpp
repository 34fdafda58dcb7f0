// Slows a store down, to study stores that are not available, such as a filer across the building or a bucket in
// another region.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The clock of a shaped store; tests replace it so that they need not wait. Both functions must be thread-safe.
struct StoreClock {
  std::function<double()> now_s;
  // Sleeps until `until_s`. Returns false if `stop` was requested, or a signal came, before that.
  std::function<bool(double until_s, const std::stop_token& stop)> sleep_until_s;
};
// The clock of this machine.
StoreClock steady_store_clock();

// Returns a store that delivers the bytes of `store` as late as `shape` says. A request is a whole file, or a block of
// 1 MiB of a stream, which is what NFS clients request at once. Listings are not slowed down, because no measurement
// includes them. The delays are pseudo-random with a fixed seed. Shards of a local store stay mapped.
std::shared_ptr<const Store> shape_store(std::shared_ptr<const Store> store, const spec::StoreShape& shape,
                                         StoreClock clock = steady_store_clock());

}  // namespace chexbench::storage
