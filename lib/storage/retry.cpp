#include "storage/retry.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/clock.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/random.hpp"

namespace chexbench::storage {
namespace {

constexpr double kLookS = 0.05;  // how often a pause or a wait checks whether it should end
constexpr double kBetweenWarningsS = 10;

// Returns a number in [0, 1) that differs between threads, tries and processes, because clients with equal jitter would
// all retry at the same time. The address of a local variable separates the threads.
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

RetryNotes::~RetryNotes() {
  if (untold_ > 0) log::warning("{}: {} more retries since the last warning", place_, untold_);
}

void RetryNotes::tell_retry(std::string_view path, std::string_view reason, int next_try, int tries, double now_s) {
  const std::string trouble = fmt::format("{}: {}; try {} of {} follows", path, reason, next_try, tries);
  const std::scoped_lock lock(mutex_);
  if (tell(trouble, now_s)) return;
  log::debug("{}", trouble);
  ++untold_;
}

void RetryNotes::tell_wait(std::string_view path, double waited_s, double now_s) {
  const std::scoped_lock lock(mutex_);
  tell(fmt::format("{}: the request has been waiting for {:.0f} s", path, waited_s), now_s);
}

bool RetryNotes::tell(const std::string& trouble, double now_s) {
  if (now_s < next_s_) return false;
  log::warning("{}{}", trouble, untold_ == 0 ? "" : fmt::format(" ({} more retries since the last warning)", untold_));
  next_s_ = now_s + kBetweenWarningsS;
  untold_ = 0;
  return true;
}

SocketWait::SocketWait(int socket, const RetryPolicy& limits, std::function<bool()> ends)
    : socket_(socket), limits_(limits), ends_(std::move(ends)), begin_s_(now_s()), since_s_(begin_s_) {}

std::string SocketWait::wait(short events) {
  if (ends_()) return "nobody waits for it any more";
  pollfd socket{socket_, events, 0};
  if (::poll(&socket, 1, static_cast<int>(kLookS * 1000)) < 0 && errno != EINTR) return std::strerror(errno);
  ready_ = socket.revents;
  return overdue(now_s());
}

std::string SocketWait::overdue(double time_s) {
  if (time_s > begin_s_ + limits_.whole_try_s()) return fmt::format("not done after {} s", limits_.whole_try_s());
  if (time_s < since_s_ + limits_.timeout_s) return {};
  if (since_bytes_ == 0) return fmt::format("no answer for {} s", limits_.timeout_s);
  if (static_cast<double>(since_bytes_) < kLeastBytesPerS * limits_.timeout_s) {
    return fmt::format("too slow: less than {} bytes/s for {} s", kLeastBytesPerS, limits_.timeout_s);
  }
  since_s_ = time_s;
  since_bytes_ = 0;
  return {};
}

}  // namespace chexbench::storage
