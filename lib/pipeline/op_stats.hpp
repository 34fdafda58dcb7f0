// Cheap counters of an op's activity: relaxed atomics, and scopes that book a thread's time to the op it works for.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "measure/wait_book.hpp"

namespace chexbench::pipeline {

// A sum of seconds with a resolution of 1 ns, to which several threads may add. Thread-safe.
class TimeSum {
 public:
  void add(double seconds) {
    nanoseconds_.fetch_add(static_cast<std::int64_t>(seconds * 1e9 + 0.5), std::memory_order_relaxed);
  }
  double seconds() const { return static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  std::atomic<std::int64_t> nanoseconds_ = 0;
};

// A count that several threads may change. Thread-safe. It is signed internally, so that a matching addition and
// subtraction may come in either order; value() is never below 0.
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

// The live form of measure::OpCounters; see measure/wait_book.hpp for the meaning of each counter. The counters are
// thread-safe.
struct OpStats {
  // These three are set before any thread starts.
  bool timed = true;             // if false, TimeScope does nothing; book_part() still adds up times
  const char* traced_name = "";  // the name in a trace; it must live as long as the process
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

  // Returns the current values for an op called `op`. The counters are read one by one, so they may be slightly
  // inconsistent.
  measure::OpCounters snapshot(const std::string& op) const;
};

// Begin and end in seconds of now_s().
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};
// Adds the length of `time` to `sum`, a member of `stats`. If a trace is being recorded, also records a span named
// `part` (a string literal) inside the op's span. Thread-safe.
void book_part(const OpStats& stats, TimeSum& sum, const char* part, TimeSpan time);

// Books the calling thread's time to an op, from construction to destruction. Scopes nest: the time of an inner scope
// is not booked to the outer one, so an op is not charged for the op before it. Use it only as a local variable.
class TimeScope {
 public:
  enum class Book {
    busy,            // busy time of this op, wall clock and CPU
    input,           // the same; the whole scope is also blocked_input of the op of the outer scope
    blocked_input,   // this op waits for the op before it
    blocked_output,  // this op waits for room in its output
    nothing,         // a wait that another scope books
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
