#include "pipeline/threads.hpp"

#include <fmt/format.h>

#include <list>
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
  // Submitted as a whole: loops that run could not be waited for if the next one failed to be submitted.
  std::list<std::function<void()>> loops;
  for (std::size_t i = 0; i < workers; ++i) {
    loops.emplace_back([this, i, done = done_] {
      loop_(i);
      done->count_down();
    });
  }
  pool.submit(std::move(loops));
}

}  // namespace chexbench::pipeline
