// Where bad records are skipped: how long one may go on without a good one.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/errors.hpp"

namespace chexbench::pipeline {

class Op;

// Counts the bad records in a row of one step of an op. An op behind an endless repeat that gives nothing would else
// work for ever. Thread-safe.
class BadStreak {
 public:
  explicit BadStreak(Op& op) : op_(op) {}

  void good() { in_a_row_.store(0, std::memory_order_relaxed); }
  // A record was bad for the reason in `error`. Books it, where the spec says to skip it.
  // @throws DataError where the spec says to stop, or where two epochs had nothing good: between two good records of
  // epochs in different orders lie fewer bad ones
  void bad(const DataError& error);

 private:
  Op& op_;
  std::atomic<std::size_t> in_a_row_ = 0;
};

}  // namespace chexbench::pipeline
