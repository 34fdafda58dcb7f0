#include "verbs/comm/comm_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "bench/rank_layout.hpp"
#include "comm/communicator.hpp"
#include "comm/device_copies.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/half.hpp"
#include "core/interrupt.hpp"
#include "core/reducer.hpp"
#include "engine/registry.hpp"
#include "measure/machine.hpp"
#include "measure/statistics.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kRepeatS = 0.02;  // length of a repeat: long compared with the clock and the preceding barrier
constexpr int kMostIterations = 1000;
constexpr int kTrialIterations = 3;  // before a size is timed: they warm the caches and give a first time

// Returns a value that rank `rank` contributes. Values are small whole numbers, so that sums are exact.
float value_of(int rank, std::size_t index) { return static_cast<float>(rank + 1 + static_cast<int>(index % 7)); }

// Returns the mean of value_of() over ranks 0 to ranks - 1.
double mean_of(int ranks, std::size_t index) { return (ranks + 1) / 2.0 + static_cast<double>(index % 7); }

std::vector<int> default_ranks(int world) {
  std::vector<int> ranks;
  for (int n = 2; n < world; n *= 2) ranks.push_back(n);
  ranks.push_back(world);
  return ranks;
}

// Returns the largest value of all ranks, on every rank.
double largest(comm::Communicator& members, double value) {
  std::vector<double> values(static_cast<std::size_t>(members.world()));
  values[static_cast<std::size_t>(members.rank())] = value;
  members.all_reduce_sum(std::span<double>(values));
  return std::ranges::max(values);
}

// The values that are averaged: f32 in host memory, or f32 or fp16 on the GPU with CUDA's index `gpu` in this process.
// @throws DeviceError from any function if this build or this machine lacks CUDA, or the GPU fails or is too small
class GradientMemory {
 public:
  GradientMemory(std::size_t bytes, FloatType type, std::optional<int> gpu) : type_(type) {
    if (gpu) {
      copies_ = comm::make_device_copies(*gpu);
      data_ = copies_->device_buffer(bytes);
    } else {
      values_.resize(bytes / sizeof(float));
      data_ = values_.data();
    }
  }
  FloatType type() const { return type_; }
  // Returns the first `values` values as a span that a reducer takes.
  BucketSpan bucket(std::size_t values) { return {.data = data_, .count = values, .type = type_}; }
  // Returns the event that a reducer must wait for before it uses the values of the last write(); null in host memory.
  ReadyEvent written() { return copies_ ? copies_->copied() : nullptr; }

  // Copy values to and from the beginning of the memory. write() rounds values that type() cannot represent.
  void write(std::span<const float> values) {
    if (!copies_) {
      std::ranges::copy(values, values_.begin());
    } else if (type_ == FloatType::f32) {
      copies_->to_device(std::as_bytes(values), data_);
    } else {
      std::vector<Half> halves(values.size());
      narrow(values, std::span(halves));
      copies_->to_device(std::as_bytes(std::span(halves)), data_);
    }
  }
  void read(std::span<float> values) {
    if (!copies_) {
      std::copy_n(values_.begin(), values.size(), values.begin());
    } else if (type_ == FloatType::f32) {
      copies_->to_host(data_, std::as_writable_bytes(values));
    } else {
      std::vector<Half> halves(values.size());
      copies_->to_host(data_, std::as_writable_bytes(std::span(halves)));
      widen(std::span<const Half>(halves), values);
    }
  }

 private:
  const FloatType type_;
  std::vector<float> values_;                   // in host memory
  std::unique_ptr<comm::DeviceCopies> copies_;  // of a GPU
  void* data_ = nullptr;
};

// Measures one number of ranks, with its reducer and max_bytes bytes of memory to average in.
class Sweep {
 public:
  Sweep(comm::Communicator& members, Reducer& reducer, GradientMemory& memory, int repeats)
      : members_(members), reducer_(reducer), memory_(memory), repeats_(repeats) {}

  CommRow measure(std::uint64_t bytes) {
    const std::size_t values = bytes / bytes_of(memory_.type());
    check_mean(values);
    CommRow row{.ranks = members_.world(), .bytes = bytes, .repeats = repeats_};
    row.iterations = iterations(time_s(values, kTrialIterations));
    std::vector<double> times_s;
    for (int repeat = 0; repeat < repeats_; ++repeat) times_s.push_back(time_s(values, row.iterations));
    row.time_s = measure::median(times_s);
    row.time_s_ci95 = measure::bootstrap_median_ci95(times_s);
    return row;
  }

 private:
  void average(std::size_t values) {
    reducer_.reduce(memory_.bucket(values), memory_.written());
    reducer_.wait();
  }

  void check_mean(std::size_t values) {
    std::vector<float> numbers(values);
    for (std::size_t i = 0; i < values; ++i) numbers[i] = value_of(members_.rank(), i);
    memory_.write(numbers);
    average(values);
    memory_.read(numbers);
    const double allowed = memory_.type() == FloatType::f32 ? 1e-6 : 2e-3;
    for (std::size_t i = 0; i < values; ++i) {
      const double expected = mean_of(members_.world(), i);
      if (std::abs(numbers[i] - expected) <= allowed * expected) continue;
      throw DeviceError(fmt::format("comm: the average of {} values over {} ranks is wrong: value {} is {}, not {}",
                                    values, members_.world(), i, numbers[i], expected));
    }
  }

  // Returns the seconds of one average on the slowest rank; the same value on every rank.
  double time_s(std::size_t values, int iterations) {
    throw_if_interrupted();
    members_.barrier();
    const double begin_s = now_s();
    for (int i = 0; i < iterations; ++i) average(values);
    return largest(members_, now_s() - begin_s) / iterations;
  }

  static int iterations(double one_s) {
    return static_cast<int>(std::clamp(std::ceil(kRepeatS / one_s), 1.0, static_cast<double>(kMostIterations)));
  }

  comm::Communicator& members_;
  Reducer& reducer_;
  GradientMemory& memory_;
  const int repeats_;
};

// Returns whether every rank sees a GPU through CUDA; the same answer on all ranks. Collective.
bool all_see_gpus(comm::Communicator& all) {
  double lacking = 0;
  try {
    lacking = engine::visible_gpus().empty() ? 1 : 0;
  } catch (const DeviceError&) {
    lacking = 1;
  }
  all.all_reduce_sum(std::span(&lacking, 1));
  return lacking == 0;
}

// Returns the GPU of this rank, or std::nullopt if values in host memory are averaged. Collective.
// @throws DeviceError if there is no GPU, or ranks share one without permission
std::optional<int> choose_gpu(comm::World& world, const CommOptions& options) {
  comm::Communicator& all = world.communicator();
  if (options.memory == CommMemory::host) return std::nullopt;
  if (options.memory == CommMemory::automatic && !all_see_gpus(all)) return std::nullopt;
  return bench::share_gpus(all, bench::find_host_cores(world), engine::visible_gpus(), options.allow_shared_gpu).gpu;
}

int count_hosts(comm::World& world) {
  std::set<std::string> hosts;
  for (const std::string& host : comm::all_gather(world.communicator(), measure::probe_machine().host))
    hosts.insert(host);
  return static_cast<int>(hosts.size());
}

void check(const CommOptions& options, int world) {
  if (world == 1) {
    throw SpecError("comm: one rank has nothing to communicate with; start several: `mpirun -np 2 chexbench comm`");
  }
  const std::size_t value = bytes_of(options.type);
  if (options.min_bytes == 0 || options.min_bytes % value != 0 || options.max_bytes % value != 0) {
    throw SpecError(fmt::format("--min-bytes and --max-bytes: must be multiples of {}, the bytes of a value", value));
  }
  if (options.min_bytes > options.max_bytes) {
    throw SpecError(fmt::format("--min-bytes {} is above --max-bytes {}", options.min_bytes, options.max_bytes));
  }
  for (const int ranks : options.ranks) {
    if (ranks >= 2 && ranks <= world) continue;
    throw SpecError(fmt::format("--ranks {}: must be 2 to {}, the ranks that were started", ranks, world));
  }
}

}  // namespace

CommResult measure_comm(comm::World& world, const CommOptions& options) {
  comm::Communicator& all = world.communicator();
  check(options, all.world());
  const std::optional<int> gpu = choose_gpu(world, options);
  if (!gpu && options.type != FloatType::f32) {
    throw DeviceError("--dtype fp16: gradients in host memory are always f32, and CUDA does not show every rank a GPU");
  }
  CommResult result{.date_utc = measure::utc_now(),
                    .library = world.library(),
                    .memory = gpu ? "GPU" : "host",
                    .dtype = spec::to_string(options.type),
                    .update = options.comm.update,
                    .hosts = count_hosts(world)};
  GradientMemory memory(options.max_bytes, options.type, gpu);
  for (const int ranks : options.ranks.empty() ? default_ranks(all.world()) : options.ranks) {
    const std::unique_ptr<comm::Communicator> members = all.first(ranks);
    const std::unique_ptr<Reducer> reducer = gpu ? all.make_device_reducer(ranks, {.gpu = *gpu, .comm = options.comm})
                                             : members ? members->make_reducer(options.comm)
                                                       : nullptr;
    if (members) {
      if (gpu) result.library = reducer->capturable() ? "NCCL" : world.library() + ", copied to the host";
      Sweep sweep(*members, *reducer, memory, options.repeats);
      for (std::uint64_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) {
        result.rows.push_back(sweep.measure(bytes));
      }
    }
    all.barrier();  // ranks that are not members sleep here
  }
  if (result.is_ring()) result.fit = fit_link(result.rows);
  return result;
}

}  // namespace chexbench::verbs
