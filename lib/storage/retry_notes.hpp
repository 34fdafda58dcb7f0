// Tells the user that a store is slow or has failures that pass.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace chexbench::storage {

// Warns of the first trouble of a store at once, and from then on at most once in 10 s, with the number of retries that
// were not told in between. The destructor tells the number of those left. Thread-safe.
class RetryNotes {
 public:
  // `place` names the store in the last warning.
  explicit RetryNotes(std::string place) : place_(std::move(place)) {}
  ~RetryNotes();
  RetryNotes(const RetryNotes&) = delete;
  RetryNotes& operator=(const RetryNotes&) = delete;

  // Warns that a request for `path` is tried again. `now_s` is the time, as clock.hpp measures it.
  void tell_retry(std::string_view path, std::string_view reason, int next_try, int tries, double now_s);
  // Warns that a request for `path` has been waiting for so long; may be called again and again as it goes on waiting.
  void tell_wait(std::string_view path, double waited_s, double now_s);

 private:
  // Warns, unless a warning came less than 10 s ago. Returns whether it did. Needs mutex_.
  bool tell(const std::string& trouble, double now_s);

  const std::string place_;
  std::mutex mutex_;
  double next_s_ = 0;
  std::size_t untold_ = 0;
};

}  // namespace chexbench::storage
