#include "pipeline/threads.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <utility>

#include "core/affinity.hpp"

namespace chexbench::pipeline {

std::jthread start_thread(const std::string& name, const std::vector<int>& cores, std::function<void()> body) {
  return std::jthread([name, cores, body = std::move(body)] {
    name_this_thread(name);
    bind_this_thread(cores);
    body();
  });
}

std::unique_ptr<ThreadPool> make_worker_pool(const std::string& name, const std::vector<int>& cores,
                                             std::size_t threads) {
  return std::make_unique<ThreadPool>(threads, [name, cores](std::size_t i) {
    name_this_thread(fmt::format("{}-{}", name, i));
    bind_this_thread(cores);
  });
}

Crew::Crew(ThreadPool& pool, std::size_t workers, std::function<void(std::size_t)> loop)
    : loop_(std::move(loop)), done_(std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(workers))) {
  // Submitted together: if the next submission failed, there would be no way to wait for the running loops.
  std::list<std::function<void()>> loops;
  for (std::size_t i = 0; i < workers; ++i) {
    loops.emplace_back([this, i, done = done_] {
      loop_(i);
      done->count_down();
    });
  }
  pool.submit(std::move(loops));
}

bool Turnstile::enter(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto may_enter = [this] { return ended_ || (!inside_ && has_room()); };
  if (!may_enter()) {
    const TimeScope wait(stats_, has_room() ? TimeScope::Book::blocked_input : TimeScope::Book::blocked_output);
    changed_.wait(lock, stop, may_enter);
  }
  if (ended_ || stop.stop_requested()) return false;
  inside_ = true;
  return true;
}

void Turnstile::leave(std::size_t taken, bool ended) {
  {
    const std::lock_guard lock(mutex_);
    inside_ = false;
    used_ += taken;
    ended_ = ended_ || ended;
  }
  if (ended) {
    changed_.notify_all();
  } else {
    changed_.notify_one();
  }
}

void Turnstile::release(std::size_t units) {
  {
    const std::lock_guard lock(mutex_);
    used_ -= units;
  }
  changed_.notify_one();
}

void pause(double seconds, const std::stop_token& stop) {
  if (seconds <= 0) return;
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

}  // namespace chexbench::pipeline
