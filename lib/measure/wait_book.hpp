// Attributes the time that an engine waits for batches to the pipeline op that caused it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chexbench::measure {

// The counters of one pipeline op. The pipeline fills them, the report writes them.

// The activity of one op since the pipeline started. Times are in seconds, summed over the op's threads.
struct OpCounters {
  std::string op;  // "map"
  std::uint64_t elements_out = 0;
  std::uint64_t images_decoded = 0;
  std::uint64_t bytes_read = 0;
  double busy_wall_s = 0;  // time spent working, wall clock
  // Time spent working, thread CPU clock. It is less than the wall time if the op was denied the CPU.
  double busy_cpu_s = 0;
  double blocked_input_s = 0;   // waiting for the op before it
  double blocked_output_s = 0;  // waiting for room in the output queue
  // Sum of the queue depths that consumers found before they waited: mean depth = sum / elements_out.
  double queue_depth_sum = 0;
  std::uint64_t queue_capacity = 0;
  std::uint64_t queue_depth = 0;  // at the moment
  std::uint64_t bytes_held = 0;   // at the moment: elements and buffers
  std::uint64_t images_held = 0;  // at the moment: decoded images in elements, batches being filled and queues
  double read_s = 0;              // wall time; the parts of map, map_and_batch and worker_batches
  double parse_s = 0;
  double decode_s = 0;
  double resize_s = 0;
  std::uint64_t bad_records = 0;  // records that were skipped
};

// The counters by kind, for code that adds or subtracts them. Totals and times only grow; levels are current values.
inline constexpr std::array kOpTotals{&OpCounters::elements_out, &OpCounters::images_decoded, &OpCounters::bytes_read,
                                      &OpCounters::bad_records};
inline constexpr std::array kOpTimes{
    &OpCounters::busy_wall_s,      &OpCounters::busy_cpu_s,      &OpCounters::blocked_input_s,
    &OpCounters::blocked_output_s, &OpCounters::queue_depth_sum, &OpCounters::read_s,
    &OpCounters::parse_s,          &OpCounters::decode_s,        &OpCounters::resize_s};
inline constexpr std::array kOpLevels{&OpCounters::queue_capacity, &OpCounters::queue_depth, &OpCounters::bytes_held,
                                      &OpCounters::images_held};
static_assert(sizeof(OpCounters) == sizeof(std::string) + 8 * (kOpTotals.size() + kOpTimes.size() + kOpLevels.size()),
              "each counter is in one of the lists");

// Returns an op's activity between two readings of its counters. Levels are those of `after`. Pure.
OpCounters difference(const OpCounters& after, const OpCounters& before);
// Adds `other` to `sum` as if both were one op; levels are added too. The name of `sum` stays.
void add(OpCounters& sum, const OpCounters& other);

// Seconds in which an engine had nothing to do because of one op.
struct WaitBooking {
  int rank = 0;
  int op_index = -1;  // in the op list; -1 if no op caused the wait
  std::string op;
  // For ops that decode: "read", "parse", "decode", "resize" or "other". Empty for all others.
  std::string part;
  double wait_s = 0;
};

// Returns the index of the op that the consumer waited for, judged by the activity of all ops meanwhile: the op closest
// to the end of the pipeline whose threads worked longer than they waited for input, and longer than they waited for
// room in the output queue. So its input was not empty, but its output was. Returns std::nullopt if there is no such
// op. Pure.
std::optional<std::size_t> awaited_op(const std::vector<OpCounters>& meanwhile);

// Attributes waits step by step. Not thread-safe.
class WaitBook {
 public:
  explicit WaitBook(int rank) : rank_(rank) {}

  // Adds the wait of one step. `meanwhile` is the activity of each op from the request of the step's batch until its
  // arrival, in the same order in every call. If no op stands out (a thread counts its work only when it is done), the
  // wait is attributed together with the next one.
  void step(double wait_s, const std::vector<OpCounters>& meanwhile);
  // Attributes the remaining wait to the op that worked longest, or to no op if none worked. Returns the sums by op and
  // part, in the order of the op list. Call it once, at the end.
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
