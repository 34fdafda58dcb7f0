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

#include "bench/second_job/second_job.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {
namespace {

constexpr std::size_t kReaders = 4;  // concurrent requests, as in a pipeline
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 4096;  // the most that O_DIRECT requires on common file systems

// Runs `work` on `count` threads, which end only by an error. @throws the first of their errors, or InterruptedError
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
    b.swap(a);  // so that the compiler cannot optimize a pass away
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
  constexpr double kPause_s = 0.001;  // between two rounds: the job should drop pages, not use up a core
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

namespace {

// The window alone has this minimum length, because a job delivers whole batches: a few of them give no rate.
constexpr double kShortestAlone_s = 0.5;
// For remaining work of the trial's threads after its last step.
constexpr double kSettle_s = 0.1;

struct Rates {
  std::optional<double> images_per_s, bytes_per_s;
};

Rates rates(const spec::TrialSpec& trial, const SecondJobSample& begin, const SecondJobSample& end) {
  const double span_s = end.time_s - begin.time_s;
  Rates rates;
  if (span_s <= 0) return rates;
  const std::uint64_t images = end.images - begin.images;
  const auto fewest =
      static_cast<std::uint64_t>(kFewestSecondBatches) * static_cast<std::uint64_t>(trial.training.batch_size);
  if (images >= fewest) rates.images_per_s = static_cast<double>(images) / span_s;
  if (end.bytes > 0) rates.bytes_per_s = static_cast<double>(end.bytes - begin.bytes) / span_s;
  return rates;
}

class SecondJobObserver final : public StepObserver {
 public:
  SecondJobObserver(SecondJob& job, const spec::TrialSpec& trial) : job_(job), trial_(trial) {}

  void begin_steps() override { begin_ = job_.sample(); }
  void after_step(std::int64_t step, Recorder&) override {
    const SecondJobSample sample = job_.sample();  // also notices its end
    if (step + 1 == trial_.measure.warmup_steps) begin_ = sample;
  }
  void end_repeat(results::RepeatResult& result) override {
    const SecondJobSample end = job_.sample();
    const Rates beside = rates(trial_, begin_, end);
    result.second_job.images_per_s = beside.images_per_s;
    result.second_job.bytes_per_s = beside.bytes_per_s;
    result.second_job.cpu_s = end.cpu_s - begin_.cpu_s;
    result.second_job.span_s = end.time_s - begin_.time_s;
  }

 private:
  SecondJob& job_;
  const spec::TrialSpec& trial_;
  SecondJobSample begin_;
};

void sleep_interruptibly(double seconds) {
  constexpr double kNap_s = 0.05;
  for (const double end_s = now_s() + seconds; now_s() < end_s;) {
    throw_if_interrupted();
    sleep_until_s(std::min(end_s, now_s() + kNap_s));
  }
}

}  // namespace

std::unique_ptr<StepObserver> measure_second_job(SecondJob& job, const spec::TrialSpec& trial) {
  return std::make_unique<SecondJobObserver>(job, trial);
}

void measure_alone(SecondJob& job, const spec::TrialSpec& trial, results::RepeatResult& result) {
  if (trial.second_job.kind == spec::SecondJobKind::page_cache) return;  // it has no rate to lose
  sleep_interruptibly(kSettle_s);
  const SecondJobSample begin = job.sample();
  sleep_interruptibly(std::max(result.second_job.span_s, kShortestAlone_s));
  const Rates alone = rates(trial, begin, job.sample());
  result.second_job.alone_images_per_s = alone.images_per_s;
  result.second_job.alone_bytes_per_s = alone.bytes_per_s;
}

}  // namespace chexbench::bench
