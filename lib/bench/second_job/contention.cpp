#include "bench/second_job/contention.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {
namespace {

constexpr std::size_t kReaders = 4;  // requests that are under way at a time, as those of a pipeline
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 4096;  // that O_DIRECT asks for at most, on common file systems

// Runs `work` on so many threads, which end by an error only. @throws the first of their errors, or InterruptedError
[[noreturn]] void run_on_threads(std::size_t count, const std::function<void(std::size_t, std::stop_token)>& work) {
  std::promise<void> failed;
  std::atomic<bool> has_failed = false;
  std::future<void> failure = failed.get_future();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i](std::stop_token stop) {
      try {
        work(i, std::move(stop));
      } catch (...) {
        if (!has_failed.exchange(true)) failed.set_exception(std::current_exception());
      }
    });
  }
  for (;;) {
    throw_if_interrupted();
    if (failure.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) failure.get();
  }
}

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    if (descriptor_ >= 0) return;
    const bool refuses = errno == EINVAL && flags != 0;
    throw DataError(fmt::format("{}: cannot open it{}: {}", path,
                                refuses ? " past the page cache (O_DIRECT), so nothing says what its storage gives: "
                                          "put second_job.root on a disk"
                                        : "",
                                std::strerror(errno)));
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

void read_through(const std::string& path, void* buffer, SecondJobCounters& counters, const std::stop_token& stop) {
  const OpenFile file(path, O_DIRECT);
  while (!stop.stop_requested()) {
    const ssize_t bytes = read(file.descriptor(), buffer, kReadBytes);
    if (bytes < 0) throw DataError(fmt::format("{}: cannot read it: {}", path, std::strerror(errno)));
    counters.bytes += static_cast<std::uint64_t>(bytes);
    if (static_cast<std::size_t>(bytes) < kReadBytes) return;
  }
}

std::uint64_t largest_cache_bytes() { return static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L)); }

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// STREAM's triad over a part of the arrays at a time, so that the counter moves smoothly.
void stream_through(std::size_t elements, SecondJobCounters& counters, const std::stop_token& stop) {
  constexpr std::size_t kPart = std::size_t{1} << 18;
  std::vector<double> a(elements, 0), b(elements, 1), c(elements, 2);
  for (double scale = 1; !stop.stop_requested(); scale += 1) {
    for (std::size_t begin = 0; begin < elements; begin += kPart) {
      const std::size_t end = std::min(begin + kPart, elements);
      for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + scale * c[i];
      counters.bytes += (end - begin) * 3 * sizeof(double);
      counters.ready = true;
    }
    b.swap(a);  // so that no pass is one that the compiler may leave out
  }
}

}  // namespace

std::uint64_t streamed_bytes(std::uint64_t cache_bytes, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kLeast = std::uint64_t{256} << 20;
  return std::min(std::max(4 * cache_bytes, kLeast), memory_bytes / 8);
}

void stream_memory(const std::vector<int>& cores, SecondJobCounters& counters) {
  const std::size_t elements = streamed_bytes(largest_cache_bytes(), memory_bytes()) / (3 * sizeof(double)) /
                               std::max<std::size_t>(cores.size(), 1);
  run_on_threads(cores.size(), [&](std::size_t thread, const std::stop_token& stop) {
    bind_this_thread({cores[thread]});
    stream_through(elements, counters, stop);
  });
}

void drop_from_page_cache(const std::vector<std::string>& paths, SecondJobCounters& counters) {
  constexpr double kPause_s = 0.001;  // between two rounds: dropping takes what was read meanwhile, not a core
  for (;;) {
    for (const std::string& path : paths) {
      posix_fadvise(OpenFile(path, 0).descriptor(), 0, 0, POSIX_FADV_DONTNEED);
      throw_if_interrupted();
    }
    counters.ready = true;
    sleep_until_s(now_s() + kPause_s);
  }
}

void read_from_storage(const std::vector<std::string>& paths, SecondJobCounters& counters) {
  std::atomic<std::size_t> next = 0;
  run_on_threads(kReaders, [&](std::size_t, const std::stop_token& stop) {
    const std::unique_ptr<void, Freed> buffer(std::aligned_alloc(kAlignment, kReadBytes));
    if (!buffer) throw std::bad_alloc();
    while (!stop.stop_requested()) {
      read_through(paths[next++ % paths.size()], buffer.get(), counters, stop);
      counters.ready = true;
    }
  });
}

}  // namespace chexbench::bench
