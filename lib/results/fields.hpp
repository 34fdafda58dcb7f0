// Lists the fields of the records with their names in JSON, once for the writer and the reader. Each function calls
// visit(name, member) for every field in turn. Record is the record's type, const for a writer. The names are part of
// the file formats, so they must not change. CSV columns use the same names; the Field of one says what it holds. What
// a function leaves out (because it is a table of its own) is written by repeat_json.cpp and report/json.cpp. The
// fields of GPUs are in gpu_fields.hpp.
#pragma once

#include "results/field.hpp"
#include "results/gpu_fields.hpp"
#include "results/labels.hpp"
#include "results/record.hpp"

namespace chexbench::results {

template <class Visitor, class Record>
void visit_host(Visitor&& visit, Record& host) {
  visit("host", host.host);
  visit("cpu", host.cpu);
  visit("kernel", host.kernel);
  visit("governors", host.governors);
  visit("load_before", host.load_before);
}

template <class Visitor, class Record>
void visit_environment(Visitor&& visit, Record& environment) {
  visit("chexbench_version", environment.chexbench_version);
  visit("date_utc", environment.date_utc);
  visit("host", environment.host);
  visit("cpu", environment.cpu);
  visit("cpu_kind", environment.cpu_kind);
  visit("cores", environment.cores);
  visit("memory_bytes", environment.memory_bytes);
  visit("kernel", environment.kernel);
  visit("mpi", environment.mpi);
  visit("instruction_set", environment.instruction_set);
  visit("unused_instruction_sets", environment.unused_instruction_sets);
  visit("command_line", environment.command_line);
  visit("gpu_driver", environment.gpu_driver);
  visit("gpus", environment.gpus);
  visit("revision", environment.revision);
  visit("compiler", environment.compiler);
  visit("governors", environment.governors);
  visit("load_before", environment.load_before);
  visit("rank_cores", environment.rank_cores);
  visit("hosts", environment.hosts);
  visit("libraries", environment.libraries);
  visit("spec_file", environment.spec_file);
  visit("spec_overrides", environment.spec_overrides);
}

template <class Visitor, class Record>
void visit_step(Visitor&& visit, Record& step) {
  visit(Field{"rank", "", "which rank made the step"}, step.rank);
  visit(Field{"step", "", "number of the step, from 0, without the warm-up steps"}, step.step);
  visit(Field{"next_s", "s", "the host's wait in pipeline.next(); the device may still compute meanwhile"},
        step.next_s);
  visit(Field{"wall_s", "s", "from the end of the step before to the end of this one: the sum of its parts"},
        step.timings.wall_s);
  visit(Field{"wait_s", "s", "part of wall_s: the device had nothing to do because no batch had come"},
        step.timings.wait_s);
  visit(Field{"upload_s", "s", "part of wall_s: copying the batch to the device"}, step.timings.upload_s);
  visit(Field{"compute_s", "s", "part of wall_s: forward and backward"}, step.timings.compute_s);
  visit(Field{"exposed_communication_s", "s", "part of wall_s: waiting for the averaging of gradients after backward"},
        step.timings.exposed_communication_s);
  visit(Field{"update_s", "s", "part of wall_s: updating the weights"}, step.timings.update_s);
  visit(Field{"other_s", "s", "part of wall_s: all that is none of the other parts"}, step.timings.other_s);
  visit(Field{"forward_s", "s", "forward, a part of compute_s"}, step.timings.forward_s);
  visit(Field{"backward_s", "s", "backward, a part of compute_s"}, step.timings.backward_s);
  visit(Field{"loss", "", "mean binary cross-entropy of the rank's batch before its update",
              "nothing is computed, or it is not finite"},
        step.timings.loss);
  visit(Field{"images", "images", "images of the rank's batch"}, step.timings.images);
  visit(
      Field{"communication_busy_s", "s",
            "from the start of the first bucket of gradients to the end of the last one, without gaps, hidden or not"},
      step.timings.communication_busy_s);
  visit(Field{"end_s", "s", "when the step ended on the device, by CLOCK_MONOTONIC of the rank's host"},
        step.timings.end_s);
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
void visit_tuning_point(Visitor&& visit, Record& point) {
  visit("value", point.value);
  visit("images_per_s", point.images_per_s);
  visit("gain", point.gain);
}

// Leaves out the points.
template <class Visitor, class Record>
void visit_tuning(Visitor&& visit, Record& tuning) {
  visit("op_index", tuning.op_index);
  visit("op", tuning.op);
  visit("parameter", tuning.parameter);
  visit("value", tuning.value);
  visit("reason", tuning.reason);
}

template <class Visitor, class Record>
void visit_label_score(Visitor&& visit, Record& score) {
  visit(Field{"finding", "", "label of the images"}, score.label);
  visit(Field{"auroc", "1", "area under the ROC curve of the label over the validation images",
              "all images or none have the label"},
        score.auroc);
  visit(Field{"auroc_ci95", "1", "95 % interval of auroc over patients, by bootstrap",
              "auroc is, or it was not computed"},
        score.auroc_ci95);
  visit(Field{"positives", "images", "validation images that have the label"}, score.positives);
  visit(Field{"negatives", "images", "validation images that do not have it"}, score.negatives);
}

// Leaves out the labels' scores, which form a table of their own.
template <class Visitor, class Record>
void visit_epoch(Visitor&& visit, Record& epoch) {
  visit(Field{"epoch", "", "number of the epoch, from 1"}, epoch.epoch);
  visit(Field{"learning_rate", "", "learning rate of the epoch's last step"}, epoch.learning_rate);
  visit(Field{"training_loss", "", "mean cross-entropy of the epoch's steps before their updates, all ranks",
              "it is not finite"},
        epoch.training_loss);
  visit(Field{"validation_loss", "", "mean cross-entropy of the validation images after the epoch", "it is not finite"},
        epoch.validation_loss);
  visit(Field{"mean_auroc", "1", "mean of the AUROCs of the labels that have one", "no label has one"},
        epoch.mean_auroc);
  visit(Field{"mean_auroc_ci95", "1", "95 % interval of mean_auroc over patients, by bootstrap",
              "mean_auroc is, or it was not computed"},
        epoch.mean_auroc_ci95);
  visit(Field{"top1", "1", "share of images whose class has the highest score", "training.task is not classes"},
        epoch.top1);
  visit(Field{"top1_ci95", "1", "95 % interval of top1 over patients, by bootstrap", "training.task is not classes"},
        epoch.top1_ci95);
  visit(Field{"top5", "1", "share of images whose class has one of the five highest scores",
              "training.task is not classes"},
        epoch.top5);
  visit(Field{"validation_images", "images", "images that were validated on"}, epoch.validation_images);
  visit(Field{"validation_s", "s", "time that the validation took"}, epoch.validation_s);
  visit(Field{"elapsed_s", "s", "time since the training began, with validations and earlier checkpoints"},
        epoch.elapsed_s);
}

template <class Visitor, class Record>
void visit_second_job(Visitor&& visit, Record& job) {
  constexpr const char* kNone = "no such job ran beside the trial";
  visit(Field{"second_job_images_per_s", "images/s", "images of the job beside the trial in its window, all hosts",
              kNone},
        job.images_per_s);
  visit(Field{"second_job_alone_images_per_s", "images/s", "images of that job right after, when it ran alone", kNone},
        job.alone_images_per_s);
  visit(Field{"second_job_bytes_per_s", "bytes/s",
              "bytes that the job beside the trial moved through memory or read from storage", kNone},
        job.bytes_per_s);
  visit(Field{"second_job_alone_bytes_per_s", "bytes/s", "the same right after, when it ran alone", kNone},
        job.alone_bytes_per_s);
  visit(Field{"second_job_cpu_s", "s", "CPU time of the job beside the trial"}, job.cpu_s);
  visit(Field{"second_job_span_s", "s", "time over which it was measured beside the trial"}, job.span_s);
}

// Leaves out steps, ops, waits, samples, GPUs and epochs.
template <class Visitor, class Record>
void visit_repeat(Visitor&& visit, Record& repeat) {
  visit(Field{"repeat", "", "number of the repeat, from 0"}, repeat.repeat);
  visit(Field{"images_per_s", "images/s", "local batch x ranks x steps / wall time of the slowest rank"},
        repeat.images_per_s);
  visit(Field{"wall_s", "s", "wall time of the measured steps, of the slowest rank"}, repeat.wall_s);
  visit(Field{"spent_s", "s", "time that the repeat took on rank 0, with warm-up and preparation"}, repeat.spent_s);
  visit(Field{"ended_unix_s", "s", "Unix time on rank 0 when the repeat ended"}, repeat.ended_unix_s);
  visit(Field{"images_trained", "images", "images that all ranks trained on"}, repeat.images_trained);
  visit(Field{"images_decoded", "images", "images that all ranks decoded"}, repeat.images_decoded);
  visit(Field{"images_held_change", "images",
              "decoded images in the buffers of pipelines: at the end minus at the start, all ranks"},
        repeat.images_held_change);
  visit(Field{"bad_records", "records", "images or records that could not be read and were skipped"},
        repeat.bad_records);
  visit(Field{"buffer_fed", "", "more than 5 % of the images trained came from buffers that were filled before"},
        repeat.buffer_fed);
  visit(Field{"process_cpu_s", "s", "CPU time of all ranks"}, repeat.process_cpu_s);
  visit(Field{"cpu_wait_s", "s", "time in which threads of the ranks were ready to run and had no core"},
        repeat.cpu_wait_s);
  visit(Field{"bytes_read", "bytes", "read by the ops of all ranks, hits of the page cache included"},
        repeat.bytes_read);
  visit(Field{"storage_read_bytes", "bytes", "fetched from storage by the kernel for the ranks"},
        repeat.storage_read_bytes);
  visit(Field{"page_cache", "",
              "state of the page cache when the repeat began: warm, cold, as_is, or one that could not be verified",
              "the journal of an older version did not tell"},
        repeat.page_cache);
  visit(Field{"looked_at_bytes", "bytes",
              "bytes of up to 2000 of the trial's files that were looked for in the page cache, all hosts"},
        repeat.looked_at_bytes);
  visit(Field{"cached_bytes_before", "bytes", "part of looked_at_bytes in the page cache before the repeat"},
        repeat.cached_bytes_before);
  visit(Field{"cached_bytes_after", "bytes", "part of looked_at_bytes in the page cache after the repeat"},
        repeat.cached_bytes_after);
  visit(Field{"peak_rss_bytes", "bytes", "peak memory of the largest rank since the repeat began"},
        repeat.peak_rss_bytes);
  visit(Field{"anonymous_rss_bytes", "bytes", "largest anonymous memory after a step, of the largest rank"},
        repeat.anonymous_rss_bytes);
  visit(Field{"start_to_first_batch_s", "s",
              "from the start of the process of rank 0 to its first batch; 0 but in its first repeat"},
        repeat.start_to_first_batch_s);
  visit(Field{"disturbance_core_s", "s",
              "cores of the ranks x time, warm-up included; 0 if the disturbance was not measured"},
        repeat.disturbance.core_s);
  visit(Field{"disturbance_others_s", "s", "part of disturbance_core_s: CPU time of other processes and of the kernel"},
        repeat.disturbance.others_s);
  visit(Field{"disturbance_steal_s", "s", "part of disturbance_core_s: a hypervisor ran something else"},
        repeat.disturbance.steal_s);
  visit(Field{"disturbance_own_cpu_s", "s", "part of disturbance_core_s: CPU time of the ranks"},
        repeat.disturbance.own_cpu_s);
  visit(Field{"disturbance_own_wait_s", "s",
              "time in which threads of the ranks were ready to run and had no core, warm-up included"},
        repeat.disturbance.own_wait_s);
  visit(Field{"disturbance_span_s", "s", "time over which the disturbance was measured, sum over ranks"},
        repeat.disturbance.span_s);
  visit(
      Field{"disturbance_throttled_s", "s", "a CPU limit of the cgroup stopped its cores, summed over cores and ranks"},
      repeat.disturbance.throttled_s);
  visit(Field{"disturbance_lost_core_s", "s",
              "cores that had left the CPU mask of a rank by the end of the repeat x time, summed over ranks"},
        repeat.disturbance.lost_core_s);
  visit(Field{"disturbance_memory_stall_s", "s",
              "part of disturbance_span_s: threads of the host waited for memory to be reclaimed"},
        repeat.disturbance.memory_stall_s);
  visit_second_job(visit, repeat.second_job);
}

// Leaves out the spec, the repeats and the trace.
template <class Visitor, class Record>
void visit_trial(Visitor&& visit, Record& trial) {
  visit("trial", trial.name);
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
  if (!finding.trial.empty()) visit("trial", finding.trial);
  if (finding.ratio) {
    visit("base", finding.base);
    visit("ratio", finding.ratio->value);
    visit("ratio_ci95", finding.ratio->ci95);
  }
  if (finding.headline.empty()) return;
  visit("headline", finding.headline);
  visit("reason", finding.reason);
  visit("advice", finding.advice);
  visit("command", finding.command);
  visit("worth_share", finding.worth_share);
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
  visit("limit", std::string(to_string(figures.limit)));
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
  visit("top1", figures.top1);
  visit("top1_ci95", figures.top1_ci95);
  visit("top5", figures.top5);
  visit("best_epoch", figures.best_epoch);
  visit("time_to_auroc_s", figures.time_to_auroc_s);
  visit("buffer_fed", figures.buffer_fed);
  visit("peak_rss_bytes", figures.peak_rss_bytes);
  visit("anonymous_rss_bytes", figures.anonymous_rss_bytes);
  visit_gpu_window(visit, figures.gpu);
}

}  // namespace chexbench::results
