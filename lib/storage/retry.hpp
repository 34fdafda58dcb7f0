// Requests that are tried again.
#pragma once

#include <functional>

namespace chexbench::storage {

// When and how often a request is tried again.
struct RetryPolicy {
  int tries = 5;
  double first_delay_s = 0.1;
  double most_delay_s = 5;
  double timeout_s = 20;
};

// Seconds to wait before try `next_try` (1: the second one): exponential backoff with full jitter (Brooker,
// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). `uniform` is in [0, 1).
double backoff_s(const RetryPolicy& policy, int next_try, double uniform);

// Waits before try `next_try`, at least `least_s`; less once `ends` is true.
// @throws InterruptedError once a signal asked the run to end
void pause_before(const RetryPolicy& policy, int next_try, double least_s, const std::function<bool()>& ends);

}  // namespace chexbench::storage
