// A fixed set of worker threads: the cores that a rank gives to its input pipeline.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace chexbench {

// Runs tasks in the order of submission on `threads` threads. Thread-safe. The destructor drops tasks that have not
// begun and joins the others. A task must not throw; it may submit further tasks, but must not wait for them.
class ThreadPool {
 public:
  // `on_start` runs first in each worker, with its index: binding, naming. threads >= 1.
  explicit ThreadPool(std::size_t threads, const std::function<void(std::size_t)>& on_start = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void submit(std::function<void()> task);
  std::size_t size() const { return workers_.size(); }

 private:
  void work(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any available_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::jthread> workers_;  // last: joined before the members they use are gone
};

}  // namespace chexbench
