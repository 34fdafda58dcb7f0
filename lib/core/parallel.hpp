// Processes many items on several threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace chexbench {

// Calls work(worker, item) once for each item in [0, items), on `threads` threads or, if that is 0, one per usable
// core. The calls start in the order of the items. `worker` is the number of the calling thread, below
// worker_count(items, threads), so that each thread can have separate buffers. After the first error no further call
// starts, and the error is rethrown once all threads have ended.
// @throws InterruptedError after a signal; also what `work` throws
void parallel_for(std::size_t items, std::size_t threads, const std::function<void(std::size_t, std::size_t)>& work);

// Returns how many threads parallel_for() uses for these arguments, which is at least 1.
std::size_t worker_count(std::size_t items, std::size_t threads);

// A fixed set of worker threads, which runs the work of an input pipeline on the cores of its rank.
// Starts tasks in the order of submission, each on the next free worker. Thread-safe. The destructor drops tasks that
// have not begun and waits for the rest. A task must not throw. It may submit further tasks but must not wait for them,
// because no worker may be free to run them.
class ThreadPool {
 public:
  // Starts `threads` (>= 1) workers. Each first calls `on_start` with its index, for example to bind and name itself.
  // @throws std::system_error if the system cannot start a thread
  explicit ThreadPool(std::size_t threads, const std::function<void(std::size_t)>& on_start = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Queues `task` without waiting; the queue is not bounded.
  void submit(std::function<void()> task);
  // Queues all of these tasks; cannot fail.
  void submit(std::list<std::function<void()>> tasks) noexcept;
  std::size_t size() const { return workers_.size(); }

 private:
  void work(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any available_;
  std::list<std::function<void()>> tasks_;
  std::vector<std::jthread> workers_;  // last, so that they are joined before the members that they use are destroyed
};

}  // namespace chexbench
