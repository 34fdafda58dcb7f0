// Lists the fields of the records with their names in JSON, once for the writer and the reader. Each function calls
// visit(name, member) for every field in turn. Record is the record's type, const for a writer. The names are part of
// the file formats, so they must not change. CSV columns use the same names. What a function leaves out (because it is
// a table of its own) is written by repeat_json.cpp and report/json.cpp.
#pragma once

#include "results/labels.hpp"
#include "results/record.hpp"

namespace chexbench::results {

template <class Visitor, class Record>
void visit_environment(Visitor&& visit, Record& environment) {
  visit("chexbench_version", environment.chexbench_version);
  visit("date_utc", environment.date_utc);
  visit("host", environment.host);
  visit("cpu", environment.cpu);
  visit("cores", environment.cores);
  visit("memory_bytes", environment.memory_bytes);
  visit("kernel", environment.kernel);
  visit("mpi", environment.mpi);
  visit("instruction_set", environment.instruction_set);
  visit("command_line", environment.command_line);
  visit("gpu_driver", environment.gpu_driver);
  visit("gpus", environment.gpus);
  visit("revision", environment.revision);
  visit("compiler", environment.compiler);
  visit("governors", environment.governors);
  visit("load_before", environment.load_before);
  visit("rank_cores", environment.rank_cores);
}

template <class Visitor, class Record>
void visit_step(Visitor&& visit, Record& step) {
  visit("rank", step.rank);
  visit("step", step.step);
  visit("next_s", step.next_s);
  visit("wall_s", step.timings.wall_s);
  visit("wait_s", step.timings.wait_s);
  visit("upload_s", step.timings.upload_s);
  visit("compute_s", step.timings.compute_s);
  visit("exposed_communication_s", step.timings.exposed_communication_s);
  visit("update_s", step.timings.update_s);
  visit("other_s", step.timings.other_s);
  visit("forward_s", step.timings.forward_s);
  visit("backward_s", step.timings.backward_s);
  visit("loss", step.timings.loss);
  visit("images", step.timings.images);
  visit("communication_busy_s", step.timings.communication_busy_s);
  visit("end_s", step.timings.end_s);
}

template <class Visitor, class Record>
void visit_op(Visitor&& visit, Record& counters) {
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

template <class Visitor, class Record>
void visit_wait(Visitor&& visit, Record& booking) {
  visit("rank", booking.rank);
  visit("op_index", booking.op_index);
  visit("op", booking.op);
  visit("part", booking.part);
  visit("wait_s", booking.wait_s);
}

template <class Visitor, class Record>
void visit_op_sample(Visitor&& visit, Record& sample) {
  visit("rank", sample.rank);
  visit("step", sample.step);
  visit("op_index", sample.op_index);
  visit("elements_out", sample.elements_out);
  visit("queue_depth", sample.queue_depth);
  visit("images_held", sample.images_held);
  visit("bytes_held", sample.bytes_held);
}

template <class Visitor, class Record>
void visit_label_score(Visitor&& visit, Record& score) {
  visit("finding", score.label);
  visit("auroc", score.auroc);
  visit("auroc_ci95", score.auroc_ci95);
  visit("positives", score.positives);
  visit("negatives", score.negatives);
}

// Leaves out the labels' scores, which form a table of their own.
template <class Visitor, class Record>
void visit_epoch(Visitor&& visit, Record& epoch) {
  visit("epoch", epoch.epoch);
  visit("learning_rate", epoch.learning_rate);
  visit("training_loss", epoch.training_loss);
  visit("validation_loss", epoch.validation_loss);
  visit("mean_auroc", epoch.mean_auroc);
  visit("mean_auroc_ci95", epoch.mean_auroc_ci95);
  visit("validation_images", epoch.validation_images);
  visit("validation_s", epoch.validation_s);
  visit("elapsed_s", epoch.elapsed_s);
}

template <class Visitor, class Record>
void visit_gpu_sample(Visitor&& visit, Record& sample) {
  visit("time_s", sample.time_s);
  visit("utilization", sample.utilization);
  visit("memory_utilization", sample.memory_utilization);
  visit("memory_used_bytes", sample.memory_used_bytes);
  visit("sm_clock_hz", sample.sm_clock_hz);
  visit("memory_clock_hz", sample.memory_clock_hz);
  visit("power_w", sample.power_w);
  visit("temperature_c", sample.temperature_c);
  visit("throttle_reasons", sample.throttle_reasons);
  visit("uncorrected_ecc_errors", sample.uncorrected_ecc_errors);
}

// Leaves out the samples.
template <class Visitor, class Record>
void visit_gpu_series(Visitor&& visit, Record& gpu) {
  visit("rank", gpu.rank);
  visit("name", gpu.name);
  visit("uuid", gpu.uuid);
  visit("problem", gpu.problem);
}

template <class Visitor, class Record>
void visit_gpu_window(Visitor&& visit, Record& window) {
  visit("gpu_utilization", window.mean_utilization);
  visit("gpu_memory_utilization", window.mean_memory_utilization);
  visit("gpu_peak_memory_bytes", window.peak_memory_used_bytes);
  visit("gpu_power_w", window.mean_power_w);
  visit("gpu_lowest_sm_clock_hz", window.lowest_sm_clock_hz);
  visit("gpu_lowest_memory_clock_hz", window.lowest_memory_clock_hz);
  visit("gpu_highest_temperature_c", window.highest_temperature_c);
  visit("gpu_throttled_share", window.throttled_share);
  visit("gpu_throttle_reasons", window.throttle);
  visit("gpu_new_uncorrected_ecc_errors", window.new_uncorrected_ecc_errors);
}

// Leaves out steps, ops, waits, samples, GPUs and epochs.
template <class Visitor, class Record>
void visit_repeat(Visitor&& visit, Record& repeat) {
  visit("repeat", repeat.repeat);
  visit("images_per_s", repeat.images_per_s);
  visit("wall_s", repeat.wall_s);
  visit("spent_s", repeat.spent_s);
  visit("ended_unix_s", repeat.ended_unix_s);
  visit("images_trained", repeat.images_trained);
  visit("images_decoded", repeat.images_decoded);
  visit("images_held_change", repeat.images_held_change);
  visit("bad_records", repeat.bad_records);
  visit("buffer_fed", repeat.buffer_fed);
  visit("process_cpu_s", repeat.process_cpu_s);
  visit("cpu_wait_s", repeat.cpu_wait_s);
  visit("bytes_read", repeat.bytes_read);
  visit("storage_read_bytes", repeat.storage_read_bytes);
  visit("page_cache", repeat.page_cache);
  visit("looked_at_bytes", repeat.looked_at_bytes);
  visit("cached_bytes_before", repeat.cached_bytes_before);
  visit("cached_bytes_after", repeat.cached_bytes_after);
  visit("peak_rss_bytes", repeat.peak_rss_bytes);
  visit("anonymous_rss_bytes", repeat.anonymous_rss_bytes);
  visit("start_to_first_batch_s", repeat.start_to_first_batch_s);
  visit("disturbance_core_s", repeat.disturbance.core_s);
  visit("disturbance_others_s", repeat.disturbance.others_s);
  visit("disturbance_steal_s", repeat.disturbance.steal_s);
  visit("disturbance_own_cpu_s", repeat.disturbance.own_cpu_s);
  visit("disturbance_own_wait_s", repeat.disturbance.own_wait_s);
  visit("disturbance_span_s", repeat.disturbance.span_s);
  visit("disturbance_throttled_s", repeat.disturbance.throttled_s);
  visit("disturbance_memory_stall_s", repeat.disturbance.memory_stall_s);
}

// Leaves out the spec, the repeats and the trace.
template <class Visitor, class Record>
void visit_trial(Visitor&& visit, Record& trial) {
  visit("trial", trial.trial);
  visit("key", trial.key);
  visit("ranks", trial.ranks);
  visit("cores_per_rank", trial.cores_per_rank);
  visit("oversubscribed", trial.oversubscribed);
  visit("emulated", trial.emulated);
  visit("step_time_computed", trial.step_time_computed);
  visit("scale_factor", trial.scale_factor);
  visit("engine_device", trial.engine_device);
  visit("engine_source", trial.engine_source);
  visit("notes", trial.notes);
  visit("unstable", trial.unstable);
  visit("partial", trial.partial);
  visit("images", trial.data.images);
  visit("files", trial.data.files);
  visit("file_bytes", trial.data.file_bytes);
  visit("converted_images", trial.data.converted_images);
  visit("conversion_s", trial.data.conversion_s);
  visit("converted_bytes", trial.data.converted_bytes);
  visit("images_looked_at", trial.data.images_looked_at);
  visit("images_newer", trial.data.images_newer);
  visit("patients_in_both_splits", trial.data.patients_in_both_splits);
  visit("image_names_key", trial.data.names_key);
  visit("file_system", trial.data.file_system);
}

template <class Visitor, class Record>
void visit_finding(Visitor&& visit, Record& finding) {
  visit("kind", finding.kind);
  visit("text", finding.text);
  visit("emulated", finding.emulated);
  visit("grade", to_string(finding.grade));
  if (!finding.ratio) return;
  visit("trial", finding.trial);
  visit("base", finding.base);
  visit("ratio", finding.ratio->value);
  visit("ratio_ci95", finding.ratio->ci95);
}

template <class Visitor, class Record>
void visit_figures(Visitor&& visit, Record& figures) {
  visit("images_per_s", figures.images_per_s);
  visit("images_per_s_mad", figures.images_per_s_mad);
  visit("images_per_s_ci95", figures.images_per_s_ci95);
  visit("scaling_efficiency", figures.scaling_efficiency);
  visit("scaling_efficiency_ci95", figures.scaling_efficiency_ci95);
  visit("speedup", figures.speedup);
  visit("epoch_s", figures.epoch_s);
  visit("images_per_joule", figures.images_per_joule);
  visit("wait_share", figures.wait_share);
  visit("wait_op", figures.wait_op);
  visit("wait_part", figures.wait_part);
  visit("waits", figures.waits);
  visit("limit", figures.limit);
  visit("cores_busy_share", figures.cores_busy_share);
  visit("cpu_wait_share", figures.cpu_wait_share);
  visit("upload_share", figures.upload_share);
  visit("compute_share", figures.compute_share);
  visit("exposed_communication_share", figures.exposed_communication_share);
  visit("update_share", figures.update_share);
  visit("other_share", figures.other_share);
  visit("busy_share", figures.busy_share);
  visit("decoded_per_trained", figures.decoded_per_trained);
  visit("au_share", figures.au_share);
  visit("images_per_s_per_core", figures.images_per_s_per_core);
  visit("mean_auroc", figures.mean_auroc);
  visit("mean_auroc_ci95", figures.mean_auroc_ci95);
  visit("best_epoch", figures.best_epoch);
  visit("time_to_auroc_s", figures.time_to_auroc_s);
  visit("buffer_fed", figures.buffer_fed);
  visit("peak_rss_bytes", figures.peak_rss_bytes);
  visit("anonymous_rss_bytes", figures.anonymous_rss_bytes);
  visit_gpu_window(visit, figures.gpu);
}

}  // namespace chexbench::results
