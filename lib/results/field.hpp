// A field of a record: its name in files, and its properties. Right after its struct, each record has a function
// visit_fields(visit, record), which calls visit(field, member) for each field, and visit_lists() if it contains
// records. JSON, CSV, messages between ranks and the merging of ranks use nothing else of a record. A field without
// properties is visited by its name alone.
#pragma once

#include <concepts>
#include <type_traits>

#include "measure/data_place.hpp"
#include "measure/gpu_sampler.hpp"
#include "measure/network.hpp"
#include "measure/nvml.hpp"
#include "measure/wait_book.hpp"

namespace chexbench::results {

// How to merge the values of several ranks: take rank 0's, the sum or the largest. `sum` concatenates lists.
enum class Merge { first, sum, largest };

// All texts are literals, or outlive the visit. It converts to its name, so that a visitor that needs only the name
// takes `const char* name`. Names are part of the file formats, so they must not change.
struct Field {
  const char* name = "";
  const char* unit = "";      // "s", "bytes", "images/s"; "1" for ratios and shares; "" without a unit
  const char* meaning = "";   // a phrase without a full stop
  const char* empty_if = "";  // when it has no value: a clause without "if"; "" if it always has one
  Merge merge = Merge::first;

  constexpr operator const char*() const { return name; }
};

constexpr Field summed(Field field) {
  field.merge = Merge::sum;
  return field;
}
constexpr Field largest(Field field) {
  field.merge = Merge::largest;
  return field;
}

// A record for a reader, or a const one for a writer.
template <class Record, class Type>
concept MaybeConst = std::same_as<std::remove_const_t<Record>, Type>;

// The fields of the records of lib/measure.

template <class Visitor, MaybeConst<measure::OpCounters> Record>
void visit_fields(Visitor&& visit, Record& counters) {
  visit("op", counters.op);
  visit("elements_out", counters.elements_out);
  visit("images_decoded", counters.images_decoded);
  visit("bytes_read", counters.bytes_read);
  visit("busy_wall_s", counters.busy_wall_s);
  visit("busy_cpu_s", counters.busy_cpu_s);
  visit("blocked_input_s", counters.blocked_input_s);
  visit("blocked_output_s", counters.blocked_output_s);
  visit("queue_depth_sum", counters.queue_depth_sum);
  visit("queue_capacity", counters.queue_capacity);
  visit("queue_depth", counters.queue_depth);
  visit("bytes_held", counters.bytes_held);
  visit("images_held", counters.images_held);
  visit("read_s", counters.read_s);
  visit("parse_s", counters.parse_s);
  visit("decode_s", counters.decode_s);
  visit("resize_s", counters.resize_s);
  visit("bad_records", counters.bad_records);
}

template <class Visitor, MaybeConst<measure::WaitBooking> Record>
void visit_fields(Visitor&& visit, Record& booking) {
  visit("rank", booking.rank);
  visit("op_index", booking.op_index);
  visit("op", booking.op);
  visit("part", booking.part);
  visit("wait_s", booking.wait_s);
}

template <class Visitor, MaybeConst<measure::NetworkInterface> Record>
void visit_fields(Visitor&& visit, Record& port) {
  visit("name", port.name);
  visit("kind", port.kind);
  visit("driver", port.driver);
  visit("bits_per_s", port.bits_per_s);
}

template <class Visitor, MaybeConst<measure::Stripe> Record>
void visit_fields(Visitor&& visit, Record& stripe) {
  visit("targets", stripe.targets);
  visit("chunk_bytes", stripe.chunk_bytes);
}

template <class Visitor, MaybeConst<measure::Striping> Record>
void visit_fields(Visitor&& visit, Record& striping) {
  visit("system", striping.system);
  visit("tool", striping.tool);
  visit("stripes", striping.stripes);
  visit("problem", striping.problem);
}

template <class Visitor, MaybeConst<measure::GpuSample> Record>
void visit_fields(Visitor&& visit, Record& sample) {
  visit(Field{"time_s", "s", "when the sample was taken, by the clock of end_s in steps.csv"}, sample.time_s);
  visit(
      Field{"utilization", "1", "NVML's share of its last period in which a kernel ran", "the GPU does not report it"},
      sample.utilization);
  visit(Field{"memory_utilization", "1", "the same for reading or writing device memory", "the GPU does not report it"},
        sample.memory_utilization);
  visit(Field{"memory_used_bytes", "bytes", "device memory in use, by all processes", "the GPU does not report it"},
        sample.memory_used_bytes);
  visit(Field{"sm_clock_hz", "Hz", "clock of the multiprocessors", "the GPU does not report it"}, sample.sm_clock_hz);
  visit(Field{"memory_clock_hz", "Hz", "clock of the memory", "the GPU does not report it"}, sample.memory_clock_hz);
  visit(Field{"power_w", "W", "power of the GPU", "the GPU does not report it"}, sample.power_w);
  visit(Field{"temperature_c", "degrees C", "temperature of the chip", "the GPU does not report it"},
        sample.temperature_c);
  visit("throttle_reasons", sample.throttle_reasons);
  visit(Field{"uncorrected_ecc_errors", "errors", "uncorrected ECC errors since the driver was loaded",
              "the GPU does not report it"},
        sample.uncorrected_ecc_errors);
  visit(Field{"energy_j", "J", "energy used since the driver was loaded", "the GPU does not report it"},
        sample.energy_j);
  visit(Field{"sm_activity", "1", "share of the multiprocessors that were busy since the sample before (GPM)",
              "the GPU or its driver has no GPM metrics"},
        sample.sm_activity);
  visit(Field{"tensor_activity", "1", "share of time in which tensor cores were busy since then (GPM)",
              "the GPU or its driver has no GPM metrics"},
        sample.tensor_activity);
  visit(Field{"dram_activity", "1", "share of the memory bandwidth that was used since then (GPM)",
              "the GPU or its driver has no GPM metrics"},
        sample.dram_activity);
}

template <class Visitor, MaybeConst<measure::GpuWindow> Record>
void visit_fields(Visitor&& visit, Record& window) {
  visit(Field{"gpu_utilization", "1", "NVML's utilization: mean over samples, GPUs and repeats", "no GPU reported it"},
        window.mean_utilization);
  visit(Field{"gpu_memory_utilization", "1",
              "NVML's share of time in which device memory was read or written: mean over samples, GPUs and repeats",
              "no GPU reported it"},
        window.mean_memory_utilization);
  visit(Field{"gpu_peak_memory_bytes", "bytes", "most device memory in use on a GPU, by all processes",
              "no GPU reported it"},
        window.peak_memory_used_bytes);
  visit(Field{"gpu_power_w", "W",
              "power of one GPU, by its energy counter if it has one: mean over time, GPUs and repeats",
              "no GPU reported it"},
        window.mean_power_w);
  visit(
      Field{"gpu_sm_activity", "1", "share of the multiprocessors that were busy: mean over samples, GPUs and repeats",
            "no GPU has GPM metrics"},
      window.mean_sm_activity);
  visit(Field{"gpu_tensor_activity", "1",
              "share of time in which tensor cores were busy: mean over samples, GPUs and repeats",
              "no GPU has GPM metrics"},
        window.mean_tensor_activity);
  visit(Field{"gpu_dram_activity", "1",
              "share of the memory bandwidth that was used: mean over samples, GPUs and repeats",
              "no GPU has GPM metrics"},
        window.mean_dram_activity);
  visit(Field{"gpu_lowest_sm_clock_hz", "Hz", "lowest clock of multiprocessors of any GPU", "no GPU reported it"},
        window.lowest_sm_clock_hz);
  visit(Field{"gpu_lowest_memory_clock_hz", "Hz", "lowest clock of the memory of any GPU", "no GPU reported it"},
        window.lowest_memory_clock_hz);
  visit(Field{"gpu_highest_temperature_c", "degrees C", "highest temperature of any GPU", "no GPU reported it"},
        window.highest_temperature_c);
  visit(Field{"gpu_throttled_share", "1",
              "share of samples with a throttle reason of power or heat: mean over GPUs and repeats",
              "no GPU reported it"},
        window.throttled_share);
  visit("gpu_throttle_reasons", window.throttle);
  visit(Field{"gpu_new_uncorrected_ecc_errors", "errors",
              "new uncorrected ECC errors in the measured steps, all GPUs and repeats", "no GPU reported it"},
        window.new_uncorrected_ecc_errors);
}

}  // namespace chexbench::results
