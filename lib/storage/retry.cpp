#include "storage/retry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/clock.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"

namespace chexbench::storage {
namespace {

constexpr double kLookS = 0.05;  // how often a pause checks whether it should end

// Returns a number in [0, 1) that differs between threads, tries and processes, because clients with equal jitter would
// all return at the same time. The address of a local variable separates the threads.
double jitter() {
  const auto nanoseconds = static_cast<std::uint64_t>(now_s() * 1e9);
  return RandomStream(derive_seed(nanoseconds, reinterpret_cast<std::uintptr_t>(&nanoseconds))).uniform();
}

}  // namespace

double backoff_s(const RetryPolicy& policy, int next_try, double uniform) {
  return uniform * std::min(policy.most_delay_s, std::ldexp(policy.first_delay_s, next_try - 1));
}

void pause_before(const RetryPolicy& policy, int next_try, double least_s, const std::function<bool()>& ends) {
  const double end_s = now_s() + std::max(backoff_s(policy, next_try, jitter()), least_s);
  while (now_s() < end_s && !ends()) {
    throw_if_interrupted();
    sleep_until_s(std::min(end_s, now_s() + kLookS));
  }
}

}  // namespace chexbench::storage
