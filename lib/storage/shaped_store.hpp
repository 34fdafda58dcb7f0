// A store made slower, so that one that is not here can be studied: a filer across the building, a bucket in another
// region.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "spec/experiment.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The time of a shaped store, so that a test need not wait. Thread-safe.
struct StoreClock {
  std::function<double()> now_s;
  // Sleeps until then; false where `stop`, or a signal, came first.
  std::function<bool(double until_s, const std::stop_token& stop)> sleep_until_s;
};
StoreClock steady_store_clock();

// Requests are whole files, and blocks of 1 MiB of a stream (what NFS clients ask for at once). Listings are not
// slowed down: they are no part of what is measured.
std::shared_ptr<const Store> shape_store(std::shared_ptr<const Store> store, const spec::StoreShape& shape,
                                         StoreClock clock = steady_store_clock());

}  // namespace chexbench::storage
