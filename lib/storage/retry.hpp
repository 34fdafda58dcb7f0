// How long stores wait for a server, and how often and after which pauses they repeat a request that failed.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace chexbench::storage {

// A server that stays slower than this for RetryPolicy::timeout_s has failed: a shard's range of 4 MiB would take an
// hour.
inline constexpr long kLeastBytesPerS = 1000;

// How often a request is tried, and how long each wait may be.
struct RetryPolicy {
  int tries = 5;               // of one request, the first one included
  double first_delay_s = 0.1;  // the longest pause before the second try; it doubles with each further try
  double most_delay_s = 5;     // the longest pause before any try
  double timeout_s = 20;       // to connect, or to stay below kLeastBytesPerS
  // The longest time of one try. A server that always sends a little would otherwise block a run for ever.
  double whole_try_s() const { return 15 * timeout_s; }
};

// Returns the seconds to wait before try `next_try` (1 is the second try): exponential backoff with full jitter
// (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). `uniform` is a random number in [0, 1).
double backoff_s(const RetryPolicy& policy, int next_try, double uniform);

// Sleeps before try `next_try`, for at least `least_s` seconds, but ends early once `ends()` is true. Thread-safe.
// @throws InterruptedError if a signal asks the run to end
void pause_before(const RetryPolicy& policy, int next_try, double least_s, const std::function<bool()>& ends);

// Warns of a slow store, and of temporary failures: of the first problem at once, and then at most once in 10 s, with
// the number of retries since the last warning. The destructor reports the rest. Thread-safe.
class RetryNotes {
 public:
  // `place` names the store in the last warning.
  explicit RetryNotes(std::string place) : place_(std::move(place)) {}
  ~RetryNotes();
  RetryNotes(const RetryNotes&) = delete;
  RetryNotes& operator=(const RetryNotes&) = delete;

  // Warns that a request for `path` is retried. `now_s` is the time of clock.hpp.
  void tell_retry(std::string_view path, std::string_view reason, int next_try, int tries, double now_s);
  // Warns that a request for `path` has been waiting for that long; may be called repeatedly during one wait.
  void tell_wait(std::string_view path, double waited_s, double now_s);

 private:
  // Warns, unless a warning came less than 10 s ago. Returns whether it did. Needs mutex_.
  bool tell(const std::string& trouble, double now_s);

  const std::string place_;
  std::mutex mutex_;
  double next_s_ = 0;
  std::size_t untold_ = 0;
};

// The waits for a server's socket in one try of a request, which begins with the constructor. Not thread-safe.
class SocketWait {
 public:
  // `socket` is still owned by the caller, and must stay open for the lifetime of this object. `ends` is asked before
  // each wait; true ends it.
  SocketWait(int socket, const RetryPolicy& limits, std::function<bool()> ends);

  // Records that the server has sent this many bytes.
  void count(std::size_t bytes) { since_bytes_ += bytes; }
  // Waits for poll's `events` for at most 50 ms, with or without them. Returns why the request has failed; empty: try
  // the socket.
  std::string wait(short events);
  // The events of the last wait.
  short ready() const { return ready_; }

 private:
  std::string overdue(double time_s);

  const int socket_;
  const RetryPolicy limits_;
  const std::function<bool()> ends_;
  const double begin_s_;
  double since_s_;               // when the current window of limits_.timeout_s began
  std::size_t since_bytes_ = 0;  // that came in it
  short ready_ = 0;
};

}  // namespace chexbench::storage
