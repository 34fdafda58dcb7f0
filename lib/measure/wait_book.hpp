// Attributes the time that an engine waits for batches to the pipeline op that caused it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/op_counters.hpp"

namespace chexbench::measure {

// Seconds in which an engine had nothing to do because of one op.
struct WaitBooking {
  int rank = 0;
  int op_index = -1;  // in the op list; -1 if no op caused the wait
  std::string op;
  // For ops that decode: "read", "parse", "decode", "resize" or "other". Empty for all others.
  std::string part;
  double wait_s = 0;
};

// Returns the index of the op that the consumer waited for, judged by what all ops did meanwhile: the op closest to
// the end of the pipeline whose threads worked longer than they waited for input, and longer than they waited for
// room in the output queue. So its input was not empty and its output was. Returns std::nullopt if there is no such
// op. Pure.
std::optional<std::size_t> awaited_op(const std::vector<OpCounters>& meanwhile);

// Attributes waits step by step. Not thread-safe.
class WaitBook {
 public:
  explicit WaitBook(int rank) : rank_(rank) {}

  // Adds the wait of one step. `meanwhile` holds what each op did from the request of the step's batch until it
  // arrived, in the same order in every call. If no op stands out (a thread counts its work only when it is done),
  // the wait is attributed together with the next one.
  void step(double wait_s, const std::vector<OpCounters>& meanwhile);
  // Attributes what is still open to the op that worked longest, or to no op if none worked. Returns the sums by op
  // and part, in the order of the op list. Call it once, at the end.
  std::vector<WaitBooking> close();

 private:
  void book(OpCounters meanwhile, std::size_t index);
  void add(std::size_t index, const std::string& op, const char* part, double wait_s);

  const int rank_;
  double open_s_ = 0;
  std::vector<OpCounters> open_meanwhile_;
  std::vector<WaitBooking> bookings_;
};

}  // namespace chexbench::measure
