// The measurements of one repeat of a trial: each record with its fields, whose units and meanings are those of the
// members.
//
// Durations are in seconds, sizes in bytes. Times of steps and samples (end_s, time_s) are from CLOCK_MONOTONIC of the
// rank's host, so they can be compared between the ranks of one host, but not between hosts.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "measure/step_timings.hpp"
#include "results/epoch.hpp"
#include "results/field.hpp"

namespace chexbench::results {

// A measurement that was not made: null in files, and without a key in those of older versions.
inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// The seconds, rates and counts of any machine are far below this. Larger numbers come from the loss of a diverging
// network. They are written as null, because the reader accepts no number above this limit.
inline constexpr double kLargestMeasured = 1e18;
inline bool is_measured(double value) { return std::abs(value) <= kLargestMeasured; }

// One measured step of one rank.
struct StepRecord {
  int rank = 0;
  int step = 0;
  double next_s = 0;
  measure::StepTimings timings;
};
template <class Visitor, MaybeConst<StepRecord> Record>
void visit_fields(Visitor&& visit, Record& step) {
  visit(Field{"rank", "", "which rank made the step"}, step.rank);
  visit(Field{"step", "", "number of the step, from 0 after the warm-up"}, step.step);
  visit(Field{"next_s", "s", "wait in pipeline.next(); the device may compute meanwhile"}, step.next_s);
  visit(Field{"wall_s", "s", "from the end of the last step to that of this one: the sum of its parts"},
        step.timings.wall_s);
  visit(Field{"wait_s", "s", "part of wall_s: the device was idle because no batch had arrived"}, step.timings.wait_s);
  visit(Field{"upload_s", "s", "part of wall_s: copying the batch to the device"}, step.timings.upload_s);
  visit(Field{"compute_s", "s", "part of wall_s: forward and backward"}, step.timings.compute_s);
  visit(Field{"exposed_communication_s", "s", "part of wall_s: waiting for the averaging of gradients after backward"},
        step.timings.exposed_communication_s);
  visit(Field{"update_s", "s", "part of wall_s: updating the weights"}, step.timings.update_s);
  visit(Field{"other_s", "s", "part of wall_s: the rest"}, step.timings.other_s);
  visit(Field{"forward_s", "s", "forward, a part of compute_s"}, step.timings.forward_s);
  visit(Field{"backward_s", "s", "backward, a part of compute_s"}, step.timings.backward_s);
  visit(
      Field{"loss", "", "mean loss of the rank's batch before its update", "nothing is computed, or it is not finite"},
      step.timings.loss);
  visit(Field{"images", "images", "images of the rank's batch"}, step.timings.images);
  visit(Field{"communication_busy_s", "s", "time in which gradients were averaged, hidden or not"},
        step.timings.communication_busy_s);
  visit(Field{"end_s", "s", "when the step ended on the device, by CLOCK_MONOTONIC of the rank's host"},
        step.timings.end_s);
}

// The state of one op of one rank's pipeline when a measured step ended.
struct OpSample {
  int rank = 0;
  int step = 0;
  int op_index = 0;                // position in the op list, from 0
  std::uint64_t elements_out = 0;  // since the measured window began
  std::uint64_t queue_depth = 0;   // elements that were ready
  std::uint64_t images_held = 0;   // decoded images in its buffers and queue
  std::uint64_t bytes_held = 0;
};
template <class Visitor, MaybeConst<OpSample> Record>
void visit_fields(Visitor&& visit, Record& sample) {
  visit("rank", sample.rank);
  visit("step", sample.step);
  visit("op_index", sample.op_index);
  visit("elements_out", sample.elements_out);
  visit("queue_depth", sample.queue_depth);
  visit("images_held", sample.images_held);
  visit("bytes_held", sample.bytes_held);
}

// A value of a parameter that was tried.
struct TuningPoint {
  std::int64_t value = 0;
  double images_per_s = 0;  // of all ranks, in its best window
  double gain = 1;          // its rate / that of the chosen value, measured alternately
};
template <class Visitor, MaybeConst<TuningPoint> Record>
void visit_fields(Visitor&& visit, Record& point) {
  visit("value", point.value);
  visit("images_per_s", point.images_per_s);
  visit("gain", point.gain);
}

// The value found for an op's parameter that is "auto" (bench/tuning.hpp).
struct OpTuning {
  int op_index = 0;       // position in the op list, from 0
  std::string op;         // "map"
  std::string parameter;  // "parallel_calls"
  std::int64_t value = 0;
  std::string reason;               // "6 added 0.8 %, 3 lost 5.1 %"
  std::vector<TuningPoint> points;  // by value; empty if there was nothing to choose
};
template <class Visitor, MaybeConst<OpTuning> Record>
void visit_fields(Visitor&& visit, Record& tuning) {
  visit("op_index", tuning.op_index);
  visit("op", tuning.op);
  visit("parameter", tuning.parameter);
  visit("value", tuning.value);
  visit("reason", tuning.reason);
}
template <class Visitor, MaybeConst<OpTuning> Record>
void visit_lists(Visitor&& visit, Record& tuning) {
  visit("points", tuning.points);
}

// NVML's samples of one rank's GPU.
struct GpuSeries {
  int rank = 0;
  std::string name;  // "NVIDIA H100 80GB HBM3"; empty if NVML does not report it
  std::string uuid;
  std::string problem;                      // why samples are missing, as a sentence; empty if none are
  std::vector<measure::GpuSample> samples;  // in the measured window, plus the nearest one before and after
};
template <class Visitor, MaybeConst<GpuSeries> Record>
void visit_fields(Visitor&& visit, Record& gpu) {
  visit("rank", gpu.rank);
  visit("name", gpu.name);
  visit("uuid", gpu.uuid);
  visit("problem", gpu.problem);
}
template <class Visitor, MaybeConst<GpuSeries> Record>
void visit_lists(Visitor&& visit, Record& gpu) {
  visit("samples", gpu.samples);
}

// What deprived the ranks of their cores in a repeat, warm-up steps included: sums over ranks.
struct Disturbance {
  double core_s = 0;
  double others_s = 0;
  double steal_s = 0;
  double own_cpu_s = 0;
  double own_wait_s = 0;
  double span_s = 0;
  double throttled_s = 0;
  double lost_core_s = 0;
  double memory_stall_s = 0;
};
template <class Visitor, MaybeConst<Disturbance> Record>
void visit_fields(Visitor&& visit, Record& disturbance) {
  visit(summed(Field{"disturbance_core_s", "s", "cores of the ranks x time, with the warm-up; 0 if not measured"}),
        disturbance.core_s);
  visit(summed(Field{"disturbance_others_s", "s", "part of disturbance_core_s: other processes and the kernel"}),
        disturbance.others_s);
  visit(summed(Field{"disturbance_steal_s", "s", "part of disturbance_core_s: the hypervisor ran something else"}),
        disturbance.steal_s);
  visit(summed(Field{"disturbance_own_cpu_s", "s", "part of disturbance_core_s: the ranks"}), disturbance.own_cpu_s);
  visit(summed(Field{"disturbance_own_wait_s", "s", "cpu_wait_s with the warm-up"}), disturbance.own_wait_s);
  visit(summed(Field{"disturbance_span_s", "s", "time over which these were measured, all ranks"}), disturbance.span_s);
  visit(summed(Field{"disturbance_throttled_s", "s", "time for which a CPU limit stopped cores, all cores and ranks"}),
        disturbance.throttled_s);
  visit(summed(Field{"disturbance_lost_core_s", "s",
                     "cores that had left a rank's CPU mask by the end x time, all ranks"}),
        disturbance.lost_core_s);
  visit(summed(Field{"disturbance_memory_stall_s", "s",
                     "part of disturbance_span_s: threads waited for memory to be reclaimed (PSI)"}),
        disturbance.memory_stall_s);
}

// The work of a second job (spec second_job) in a repeat: alongside the trial in its measured window, and alone for as
// long right after it. Sums over hosts. Rates are empty without a second job, or if its kind has no such rate.
struct SecondJobResult {
  std::optional<double> images_per_s;
  std::optional<double> alone_images_per_s;
  std::optional<double> bytes_per_s;
  std::optional<double> alone_bytes_per_s;
  double cpu_s = 0;
  double span_s = 0;
};
template <class Visitor, MaybeConst<SecondJobResult> Record>
void visit_fields(Visitor&& visit, Record& job) {
  constexpr const char* kNone = "there was no such job";
  visit(summed(Field{"second_job_images_per_s", "images/s", "rate of the second job in the trial's window, all hosts",
                     kNone}),
        job.images_per_s);
  visit(summed(Field{"second_job_alone_images_per_s", "images/s", "the same right after, alone", kNone}),
        job.alone_images_per_s);
  visit(summed(Field{"second_job_bytes_per_s", "bytes/s",
                     "rate at which it moved memory or read storage in that window", kNone}),
        job.bytes_per_s);
  visit(summed(Field{"second_job_alone_bytes_per_s", "bytes/s", "the same right after, alone", kNone}),
        job.alone_bytes_per_s);
  visit(summed(Field{"second_job_cpu_s", "s", "CPU time of the second job in that window"}), job.cpu_s);
  visit(largest(Field{"second_job_span_s", "s", "duration of that window"}), job.span_s);
}

// One repeat of one trial, which is the unit of the journal. Counts and times cover the measured window, which begins
// after the warm-up steps, unless a comment says otherwise.
struct RepeatResult {
  int repeat = 0;
  double images_per_s = 0;
  double wall_s = 0;
  double spent_s = 0;
  double ended_unix_s = 0;
  std::uint64_t images_trained = 0;
  std::uint64_t images_decoded = 0;
  std::int64_t images_held_change = 0;
  std::uint64_t bad_records = 0;
  bool buffer_fed = false;
  double process_cpu_s = 0;
  double cpu_wait_s = 0;
  Disturbance disturbance;
  SecondJobResult second_job;
  std::uint64_t bytes_read = 0;
  std::uint64_t storage_read_bytes = 0;
  std::string page_cache;
  std::uint64_t looked_at_bytes = 0;
  std::uint64_t cached_bytes_before = 0;
  std::uint64_t cached_bytes_after = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t anonymous_rss_bytes = 0;
  double start_to_first_batch_s = 0;
  std::vector<StepRecord> steps;            // of all ranks; the last element is of the last rank
  std::vector<measure::OpCounters> ops;     // within the window, summed over ranks
  std::vector<measure::WaitBooking> waits;  // of all ranks: the ops to which the steps' wait_s is attributed
  std::vector<OpSample> op_samples;         // of all ranks; up to 200 steps each
  std::vector<GpuSeries> gpus;              // one for each rank whose engine computes on a GPU
  std::vector<EpochRecord> epochs;          // of a training over epochs
  std::vector<OpTuning> tunings;            // the values used for "auto"; of all ranks
};
template <class Visitor, MaybeConst<RepeatResult> Record>
void visit_fields(Visitor&& visit, Record& repeat) {
  visit(Field{"repeat", "", "number of the repeat, from 0"}, repeat.repeat);
  visit(Field{"images_per_s", "images/s", "local batch x ranks x steps / wall time of the slowest rank"},
        repeat.images_per_s);
  visit(largest(Field{"wall_s", "s", "wall time of the measured steps, of the slowest rank"}), repeat.wall_s);
  visit(Field{"spent_s", "s", "duration on rank 0, with preparation and warm-up"}, repeat.spent_s);
  visit(Field{"ended_unix_s", "s", "Unix time at the end, on rank 0"}, repeat.ended_unix_s);
  visit(summed(Field{"images_trained", "images", "images that all ranks trained on"}), repeat.images_trained);
  visit(summed(Field{"images_decoded", "images", "images that all ranks decoded"}), repeat.images_decoded);
  visit(summed(Field{"images_held_change", "images", "decoded images in buffers, end minus start, all ranks"}),
        repeat.images_held_change);
  visit(summed(Field{"bad_records", "records", "unreadable images or records, which were skipped"}),
        repeat.bad_records);
  visit(Field{"buffer_fed", "", "over 5 % of the images trained came from buffers filled before"}, repeat.buffer_fed);
  visit(summed(Field{"process_cpu_s", "s", "CPU time of all ranks"}), repeat.process_cpu_s);
  visit(summed(Field{"cpu_wait_s", "s", "time in which the ranks' threads were ready without a core"}),
        repeat.cpu_wait_s);
  visit(summed(Field{"bytes_read", "bytes", "read by the ops of all ranks, also from the page cache"}),
        repeat.bytes_read);
  visit(summed(Field{"storage_read_bytes", "bytes", "fetched from storage for the ranks"}), repeat.storage_read_bytes);
  visit(Field{"page_cache", "", "state of the page cache at the start: warm, cold or as_is; perhaps not verified",
              "an old version measured it"},
        repeat.page_cache);
  visit(summed(Field{"looked_at_bytes", "bytes",
                     "bytes of up to 2000 files, evenly spread, that were looked for in the page cache, all hosts"}),
        repeat.looked_at_bytes);
  visit(summed(Field{"cached_bytes_before", "bytes", "part of looked_at_bytes in the page cache: before the repeat"}),
        repeat.cached_bytes_before);
  visit(summed(Field{"cached_bytes_after", "bytes", "part of looked_at_bytes in the page cache: after the repeat"}),
        repeat.cached_bytes_after);
  visit(largest(Field{"peak_rss_bytes", "bytes", "peak memory (VmHWM) of the largest rank since the repeat began"}),
        repeat.peak_rss_bytes);
  visit(largest(Field{"anonymous_rss_bytes", "bytes", "largest anonymous memory (RssAnon) of a rank after a step"}),
        repeat.anonymous_rss_bytes);
  visit(Field{"start_to_first_batch_s", "s",
              "from the start of rank 0's process to its first batch; 0 except in its first repeat"},
        repeat.start_to_first_batch_s);
  visit_fields(visit, repeat.disturbance);
  visit_fields(visit, repeat.second_job);
}
template <class Visitor, MaybeConst<RepeatResult> Record>
void visit_lists(Visitor&& visit, Record& repeat) {
  visit(summed(Field{"ops"}), repeat.ops);  // op by op
  visit(summed(Field{"waits"}), repeat.waits);
  visit(summed(Field{"op_samples"}), repeat.op_samples);
  visit(summed(Field{"steps"}), repeat.steps);
  visit(summed(Field{"gpus"}), repeat.gpus);
  visit(Field{"epochs"}, repeat.epochs);
  visit(Field{"tunings"}, repeat.tunings);
}

}  // namespace chexbench::results
