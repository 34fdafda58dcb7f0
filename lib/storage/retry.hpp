// How often, and after which pauses, stores repeat a request that failed.
#pragma once

#include <functional>

namespace chexbench::storage {

// A server that sends less for all of RetryPolicy::timeout_s has failed: a shard's range of 4 MiB would take an hour.
inline constexpr long kLeastBytesPerS = 1000;

// How often a request is tried, and how long each wait may be.
struct RetryPolicy {
  int tries = 5;               // of one request, the first one included
  double first_delay_s = 0.1;  // the longest pause before the second try; it doubles with each further try
  double most_delay_s = 5;     // the longest pause before any try
  double timeout_s = 20;       // to connect, and with less than kLeastBytesPerS coming in
  // The longest time of one try. A server that always sends a little would otherwise hold a run for ever.
  double whole_try_s() const { return 15 * timeout_s; }
};

// Returns the seconds to wait before try `next_try` (1 is the second try): exponential backoff with full jitter
// (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). `uniform` is a random number in [0, 1).
double backoff_s(const RetryPolicy& policy, int next_try, double uniform);

// Sleeps before try `next_try`, for at least `least_s` seconds, but ends early once `ends()` is true. Thread-safe.
// @throws InterruptedError if a signal asks the run to end
void pause_before(const RetryPolicy& policy, int next_try, double least_s, const std::function<bool()>& ends);

}  // namespace chexbench::storage
