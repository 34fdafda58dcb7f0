#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
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

ThreadPool::ThreadPool(std::size_t threads, const std::function<void(std::size_t)>& on_start) {
  workers_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    workers_.emplace_back([this, on_start, i](std::stop_token stop) {
      if (on_start) on_start(i);
      work(std::move(stop));
    });
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
}

void ThreadPool::submit(std::function<void()> task) {
  std::list<std::function<void()>> tasks;
  tasks.push_back(std::move(task));
  submit(std::move(tasks));
}

void ThreadPool::submit(std::list<std::function<void()>> tasks) noexcept {
  const std::size_t count = tasks.size();
  {
    const std::lock_guard lock(mutex_);
    tasks_.splice(tasks_.end(), tasks);
  }
  for (std::size_t i = 0; i < count; ++i) available_.notify_one();
}

void ThreadPool::work(std::stop_token stop) {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      if (!available_.wait(lock, stop, [this] { return !tasks_.empty(); }) || stop.stop_requested()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace chexbench
