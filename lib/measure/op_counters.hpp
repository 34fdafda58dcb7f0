// What a pipeline counts of one op, shared by pipeline (fills it) and report (writes it).
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace chexbench::measure {

// What one op did since the pipeline started. Times are summed over its threads.
struct OpCounters {
  std::string op;  // "map"
  std::uint64_t elements_out = 0;
  std::uint64_t images_decoded = 0;
  std::uint64_t bytes_read = 0;
  double busy_wall_s = 0;       // working, wall clock
  double busy_cpu_s = 0;        // working, thread CPU clock: less than wall where the op was denied the CPU
  double blocked_input_s = 0;   // waiting for the op before it
  double blocked_output_s = 0;  // waiting for room behind it
  double queue_depth_sum = 0;   // depth found by whoever asks, before waiting: mean depth = sum / elements_out
  std::uint64_t queue_capacity = 0;
  std::uint64_t queue_depth = 0;  // now
  std::uint64_t bytes_held = 0;   // now: elements, buffers
  std::uint64_t images_held = 0;  // now: decoded images, in elements, batches being filled and queues
  double read_s = 0;              // wall; the parts of map, map_and_batch and worker_batches
  double parse_s = 0;
  double decode_s = 0;
  double resize_s = 0;
  std::uint64_t bad_records = 0;  // skipped
};

// The counters by kind, for whoever adds or subtracts them. Totals and times grow; levels are as they are now.
inline constexpr std::array kOpTotals{&OpCounters::elements_out, &OpCounters::images_decoded, &OpCounters::bytes_read,
                                      &OpCounters::bad_records};
inline constexpr std::array kOpTimes{
    &OpCounters::busy_wall_s,      &OpCounters::busy_cpu_s,      &OpCounters::blocked_input_s,
    &OpCounters::blocked_output_s, &OpCounters::queue_depth_sum, &OpCounters::read_s,
    &OpCounters::parse_s,          &OpCounters::decode_s,        &OpCounters::resize_s};
inline constexpr std::array kOpLevels{&OpCounters::queue_capacity, &OpCounters::queue_depth, &OpCounters::bytes_held,
                                      &OpCounters::images_held};
static_assert(sizeof(OpCounters) == sizeof(std::string) + 8 * (kOpTotals.size() + kOpTimes.size() + kOpLevels.size()),
              "each counter stands in one of the lists");

// What an op did between two looks at its counters; "now" values are those of `after`.
OpCounters difference(const OpCounters& after, const OpCounters& before);
// As if both were one op.
void add(OpCounters& sum, const OpCounters& other);

}  // namespace chexbench::measure
