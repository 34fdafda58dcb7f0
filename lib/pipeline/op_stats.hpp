// Counting what an op does, cheaply: relaxed atomics, and scopes that book a thread's time to the op it works for.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "measure/op_counters.hpp"

namespace chexbench::pipeline {

// Seconds that several threads add up. Thread-safe.
class TimeSum {
 public:
  void add(double seconds) {
    nanoseconds_.fetch_add(static_cast<std::int64_t>(seconds * 1e9 + 0.5), std::memory_order_relaxed);
  }
  double seconds() const { return static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  std::atomic<std::int64_t> nanoseconds_ = 0;
};

// A count that several threads change. Thread-safe. Signed, so that a matching add and subtract may come in any order.
class Count {
 public:
  void add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  void set(std::int64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t value() const {
    const std::int64_t now = value_.load(std::memory_order_relaxed);
    return now < 0 ? 0 : static_cast<std::uint64_t>(now);
  }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

// The live form of measure::OpCounters, whose header says what each member means. Thread-safe.
struct OpStats {
  // Set before threads begin.
  bool timed = true;             // else TimeScope does nothing
  const char* traced_name = "";  // in a trace
  std::int64_t index = 0;        // in the op list

  Count elements_out;
  Count images_decoded;
  Count bytes_read;
  TimeSum busy_wall;
  TimeSum busy_cpu;
  TimeSum blocked_input;
  TimeSum blocked_output;
  Count queue_depth_sum;
  Count queue_capacity;
  Count queue_depth;
  Count bytes_held;
  Count images_held;
  TimeSum read;
  TimeSum parse;
  TimeSum decode;
  TimeSum resize;
  Count bad_records;

  measure::OpCounters snapshot(const std::string& op) const;
};

// By now_s().
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};
// Books a part of an op's work to `sum`, one of `stats`; in a trace it has a span within the op's.
void book_part(const OpStats& stats, TimeSum& sum, const char* part, TimeSpan time);

// Books the calling thread's time to an op, from construction to destruction. Scopes nest: an inner one takes its time
// out of the outer one, so that an op is not charged for the op before it. To be used as a local variable only.
class TimeScope {
 public:
  enum class Book {
    busy,            // wall and CPU
    input,           // busy for this op, and the whole scope is blocked_input of the op that asked
    blocked_input,   // this op's own wait for the op before it
    blocked_output,  // this op's wait for room behind it
    nothing,         // a wait that somebody else books
  };

  TimeScope(OpStats& stats, Book book);
  ~TimeScope();
  TimeScope(const TimeScope&) = delete;
  TimeScope& operator=(const TimeScope&) = delete;

 private:
  struct Sample {
    double wall_s = 0;
    double cpu_s = 0;
  };
  static Sample sample();
  void charge(const Sample& now);
  void trace(const Sample& now) const;

  OpStats& stats_;
  const Book book_;
  TimeScope* const outer_;
  const Sample start_;
  Sample charged_until_;
  static thread_local TimeScope* innermost_;
};

}  // namespace chexbench::pipeline
