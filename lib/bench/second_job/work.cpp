#include "bench/second_job/work.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
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

#include "bench/training/validation.hpp"
#include "bench/trial_data.hpp"
#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "measure/page_cache.hpp"
#include "measure/system_files.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

// The first batches include one-time setup; later ones are typical. On CPUs, each training batch takes seconds.
constexpr int kReadyBatches = 3;

// bind_this_thread() only warns; a second job on other cores would measure something else.
void bind_to(const std::vector<int>& cores) {
  bind_this_thread(cores);
  std::vector<int> asked = cores;
  std::ranges::sort(asked);
  const std::vector<int> bound = usable_cpus();
  if (bound == asked) return;
  throw DeviceError(fmt::format("it cannot be bound to CPUs {}, only to {}", measure::cpu_list_text(asked),
                                measure::cpu_list_text(bound)));
}

// The trial's own files were prepared by the trial.
void prepare_files(const spec::TrialSpec& trial, const spec::TrialSpec& own, const dataset::Dataset& images) {
  if (own.data.root == trial.data.root || !images.store->is_local()) return;
  measure::prepare_page_cache(trial.measure.page_cache, paths_of(images));
}

// Delivers batches to an engine until an error ends it. Engine none drops them.
[[noreturn]] void run_batches(const spec::TrialSpec& trial, const std::vector<int>& cores,
                              SecondJobCounters& counters) {
  const spec::TrialSpec own = second_job_trial(trial);
  const dataset::Dataset images = dataset::open_dataset(own.data, pixels_of(own));
  prepare_files(trial, own, images);
  const auto reducer = comm::make_single_reducer();
  const auto engine = engine::make_engine(own.engine, {.model = own.model,
                                                       .training = own.training,
                                                       .comm = own.comm,
                                                       .deliver = spec::delivered(own.data),
                                                       .outputs = images.labels(),
                                                       .class_weights = class_weights(own, images),
                                                       .cores = cores,
                                                       .plan_choice = {}});
  for (int pass = 0;; ++pass) {  // more than one if the pipeline does not repeat its images
    const auto pipeline = pipeline::make_pipeline(
        make_pipeline_context(own, images, engine->allocator(), {.cores = cores, .repeat = pass}));
    for (int batches = 1;; ++batches) {
      BatchLease batch = pipeline->next();
      if (!batch) break;
      throw_if_interrupted();
      const auto delivered = static_cast<std::uint64_t>(batch->valid);
      engine->step(std::move(batch), *reducer);
      counters.images += delivered;
      if (batches == kReadyBatches) counters.ready = true;
    }
    counters.ready = true;
  }
}

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

// Jobs that exhaust one resource of a host and use little else, like iBench's sources of interference. All of them
// count their work and end only by an error or a signal.

// Streams arrays larger than all caches through each of the cores (STREAM's triad), and counts bytes as STREAM does.
[[noreturn]] void stream_memory(const std::vector<int>& cores, SecondJobCounters& counters) {
  const std::size_t elements = streamed_bytes(largest_cache_bytes(), memory_bytes()) / (3 * sizeof(double)) /
                               std::max<std::size_t>(cores.size(), 1);
  run_on_threads(cores.size(), [&](std::size_t thread, const std::stop_token& stop) {
    bind_this_thread({cores[thread]});
    stream_through(elements, counters, stop);
  });
}

// Drops the files from the page cache again and again.
[[noreturn]] void drop_from_page_cache(const std::vector<std::string>& paths, SecondJobCounters& counters) {
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

// Reads the files from storage, past the page cache (O_DIRECT), again and again.
[[noreturn]] void read_from_storage(const std::vector<std::string>& paths, SecondJobCounters& counters) {
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

}  // namespace

spec::TrialSpec second_job_trial(const spec::TrialSpec& trial) {
  const spec::SecondJobSpec& job = trial.second_job;
  spec::TrialSpec own = trial;
  own.second_job = {};
  own.ranks = 1;
  own.engine = spec::second_job_trains(job) ? job.engine : "none";
  own.measure.seed = trial.measure.seed + 1;  // another order of images, so that the jobs do not run in lockstep
  own.data.root = spec::second_job_root(trial);
  if (job.kind == spec::SecondJobKind::training) own.data.format = spec::DataFormat::ready;
  // GPU precisions apply only to emulated engines; a CPU trains in f32 or bf16.
  const bool on_cpu = own.engine == "onednn";
  if (on_cpu && own.training.precision != spec::Precision::bf16) own.training.precision = spec::Precision::f32;
  return own;
}

void run_second_job(const spec::TrialSpec& trial, const std::vector<int>& cores, SecondJobCounters& counters) {
  bind_to(cores);
  const auto files = [&trial] {
    spec::DataSpec data = trial.data;
    data.root = spec::second_job_root(trial);
    return paths_of(dataset::open_dataset(data, pixels_of(trial)));
  };
  switch (trial.second_job.kind) {
    case spec::SecondJobKind::memory:
      stream_memory(cores, counters);
    case spec::SecondJobKind::page_cache:
      drop_from_page_cache(files(), counters);
    case spec::SecondJobKind::storage:
      read_from_storage(files(), counters);
    default:
      run_batches(trial, cores, counters);
  }
}

void end_with(int control) {
  std::thread([control] {
    char byte = 0;
    while (read(control, &byte, 1) > 0 || errno == EINTR) errno = 0;
    _exit(0);
  }).detach();
}

std::uint64_t streamed_bytes(std::uint64_t cache_bytes, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kLeast = std::uint64_t{256} << 20;
  return std::min(std::max(4 * cache_bytes, kLeast), memory_bytes / 8);
}

// A new file is filled with zeros, the initial values of the counters.
SharedCounters::SharedCounters(int descriptor) {
  void* const memory = mmap(nullptr, sizeof(SecondJobCounters), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    throw DeviceError(fmt::format("the second job's counters cannot be mapped: {}", std::strerror(errno)));
  counters_ = static_cast<SecondJobCounters*>(memory);
}

SharedCounters::~SharedCounters() { munmap(counters_, sizeof(SecondJobCounters)); }

}  // namespace chexbench::bench
