#include "bench/comm_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "bench/layout.hpp"
#include "bench/network_fit.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "measure/machine.hpp"
#include "measure/statistics.hpp"

namespace chexbench::bench {
namespace {

constexpr double kRepeatS = 0.02;  // of one repeat: long against the clock and the barrier before it
constexpr int kMostIterations = 1000;
constexpr int kTrialIterations = 3;  // before a size is timed: caches, and how long one takes

// What rank `rank` gives: whole numbers, so that sums are exact in f32.
float value_of(int rank, std::size_t index) { return static_cast<float>(rank + 1 + static_cast<int>(index % 7)); }

// The mean over ranks 0 to n-1 of value_of().
double mean_of(int ranks, std::size_t index) { return (ranks + 1) / 2.0 + static_cast<double>(index % 7); }

std::vector<int> default_ranks(int world) {
  std::vector<int> ranks;
  for (int n = 2; n < world; n *= 2) ranks.push_back(n);
  ranks.push_back(world);
  return ranks;
}

// The largest of the ranks' values, on every rank.
double largest(comm::Communicator& members, double value) {
  std::vector<double> values(static_cast<std::size_t>(members.world()));
  values[static_cast<std::size_t>(members.rank())] = value;
  members.all_reduce_sum(std::span<double>(values));
  return std::ranges::max(values);
}

// One world's reducer and the buffer that it averages.
class Sweep {
 public:
  Sweep(comm::Communicator& members, const CommOptions& options)
      : members_(members),
        reducer_(members.make_reducer()),
        options_(options),
        gradients_(options.max_bytes / sizeof(float)) {}

  report::CommRow measure(std::uint64_t bytes) {
    const std::span<float> bucket = std::span(gradients_).first(bytes / sizeof(float));
    check_mean(bucket);
    report::CommRow row{.ranks = members_.world(), .bytes = bytes, .repeats = options_.repeats};
    row.iterations = iterations(time_s(bucket, kTrialIterations));
    std::vector<double> times_s;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) times_s.push_back(time_s(bucket, row.iterations));
    row.time_s = measure::median(times_s);
    row.time_s_ci95 = measure::bootstrap_median_ci95(times_s);
    return row;
  }

 private:
  void average(std::span<float> bucket) {
    reducer_->reduce({.data = bucket.data(), .count = bucket.size()}, nullptr);
    reducer_->wait();
  }

  void check_mean(std::span<float> bucket) {
    for (std::size_t i = 0; i < bucket.size(); ++i) bucket[i] = value_of(members_.rank(), i);
    average(bucket);
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const double expected = mean_of(members_.world(), i);
      if (std::abs(bucket[i] - expected) <= 1e-6 * expected) continue;
      throw DeviceError(fmt::format("comm: the average of {} values over {} ranks is wrong: value {} is {}, not {}",
                                    bucket.size(), members_.world(), i, bucket[i], expected));
    }
  }

  // Of one average, on the slowest rank. The same on every rank.
  double time_s(std::span<float> bucket, int iterations) {
    throw_if_interrupted();
    members_.barrier();
    const double begin_s = now_s();
    for (int i = 0; i < iterations; ++i) average(bucket);
    return largest(members_, now_s() - begin_s) / iterations;
  }

  static int iterations(double one_s) {
    return static_cast<int>(std::clamp(std::ceil(kRepeatS / one_s), 1.0, static_cast<double>(kMostIterations)));
  }

  comm::Communicator& members_;
  const std::unique_ptr<Reducer> reducer_;
  const CommOptions& options_;
  std::vector<float> gradients_;
};

int count_hosts(comm::World& world) {
  std::set<std::string> hosts;
  for (const std::string& host : all_gather(world.communicator(), measure::probe_machine().host)) hosts.insert(host);
  return static_cast<int>(hosts.size());
}

}  // namespace

void check_comm_options(const CommOptions& options, int world) {
  if (options.dtype != "f32") {
    throw SpecError(
        fmt::format("--dtype {}: this measures averages in host memory, whose gradients are always f32; leave it out",
                    options.dtype));
  }
  if (world == 1) {
    throw SpecError("comm: a world of one rank has nobody to talk to; start several: `mpirun -np 2 chexbench comm`");
  }
  if (options.min_bytes == 0 || options.min_bytes % sizeof(float) != 0 || options.max_bytes % sizeof(float) != 0) {
    throw SpecError("--min-bytes and --max-bytes: must be multiples of 4, the bytes of one f32");
  }
  if (options.min_bytes > options.max_bytes) {
    throw SpecError(fmt::format("--min-bytes {} is above --max-bytes {}", options.min_bytes, options.max_bytes));
  }
  for (const int ranks : options.ranks) {
    if (ranks >= 2 && ranks <= world) continue;
    throw SpecError(fmt::format("--ranks {}: must be 2 to {}, the ranks that were started", ranks, world));
  }
}

report::CommResult measure_comm(comm::World& world, const CommOptions& options) {
  comm::Communicator& all = world.communicator();
  check_comm_options(options, all.world());
  report::CommResult result{.date_utc = measure::utc_now(),
                            .library = world.library(),
                            .memory = "host",
                            .dtype = options.dtype,
                            .hosts = count_hosts(world)};
  for (const int ranks : options.ranks.empty() ? default_ranks(all.world()) : options.ranks) {
    const std::unique_ptr<comm::Communicator> members = all.first(ranks);
    if (members) {
      Sweep sweep(*members, options);
      for (std::uint64_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) {
        result.rows.push_back(sweep.measure(bytes));
      }
    }
    all.barrier();  // ranks that sit this world out sleep here
  }
  result.fit = fit_link(result.rows);
  return result;
}

}  // namespace chexbench::bench
