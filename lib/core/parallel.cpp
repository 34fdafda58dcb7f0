#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/affinity.hpp"
#include "core/interrupt.hpp"

namespace chexbench {

std::size_t worker_count(std::size_t items, std::size_t threads) {
  if (items <= 1) return 1;  // most folders are small, and finding the cores reads files
  const std::size_t wanted = threads == 0 ? usable_cores().size() : threads;
  return std::clamp<std::size_t>(wanted, 1, items);
}

void parallel_for(std::size_t items, std::size_t threads, const std::function<void(std::size_t, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&](std::size_t worker) {
    try {
      for (std::size_t item = next++; item < items && !failed; item = next++) {
        throw_if_interrupted();
        work(worker, item);
      }
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  {
    const std::size_t workers = worker_count(items, threads);
    std::vector<std::jthread> helpers;
    for (std::size_t worker = 1; worker < workers; ++worker) helpers.emplace_back(run, worker);
    run(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace chexbench
