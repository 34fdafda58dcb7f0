// Which op an engine's waits for batches are booked to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/op_counters.hpp"

namespace chexbench::measure {

// Seconds in which an engine had nothing to do because of one op.
struct WaitBooking {
  int rank = 0;
  int op_index = -1;  // in the op list; -1: of no op
  std::string op;
  std::string part;  // of an op that decodes: "read", "parse", "decode", "resize" or "other"
  double wait_s = 0;
};

// The op nearest the sink whose threads worked for longer than they waited for the op before them (its input was not
// empty) or for room behind them (its output was), by what all ops did meanwhile.
std::optional<std::size_t> awaited_op(const std::vector<OpCounters>& meanwhile);

// Books waits step by step. Not thread-safe.
class WaitBook {
 public:
  explicit WaitBook(int rank) : rank_(rank) {}

  // A step waited for `wait_s`; `meanwhile` is what each op did while its batch was asked for and had not come. Where
  // none stands out (a thread books its work when it is done), it is booked together with the next wait.
  void step(double wait_s, const std::vector<OpCounters>& meanwhile);
  // Books what is open to the op that worked longest, or to none where none did. By op and part, in the list's order.
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
