// The counters of one pipeline op. The pipeline fills them, the report writes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace chexbench::measure {

// What one op did since the pipeline started. Times are in seconds, summed over the op's threads.
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

// Returns what an op did between two readings of its counters. Levels are those of `after`. Pure.
OpCounters difference(const OpCounters& after, const OpCounters& before);
// Adds `other` to `sum` as if both were one op; levels are added too. The name of `sum` stays.
void add(OpCounters& sum, const OpCounters& other);

}  // namespace chexbench::measure
