#include "core/thread_pool.hpp"

#include <utility>

namespace chexbench {

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
