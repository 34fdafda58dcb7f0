// The figures of a trial: what a report says about it. derive_figures() (analysis/derive.hpp) computes them from the
// repeats by the formulas of apps/chexbench/reference/README.md. This header holds only the data, so that readers and
// writers of files need no analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_window.hpp"
#include "measure/statistics.hpp"
#include "results/measured_fields.hpp"

namespace chexbench::results {

// A trial that waits for batches for at most this share of its time keeps its accelerator fed. Below it, waits are not
// attributed to ops.
inline constexpr double kFedShare = 0.02;

// What bounds the images/s of a trial; analysis/verdict.hpp says when.
enum class LimitedBy { nothing, slow_rank, cpu, input, machine, sample, communication, upload, compute };

// Returns the name of the value, such as "slow_rank", or "" for nothing.
const char* to_string(LimitedBy limit);

// The time for which the engine waited because of one op, or of one part of an op.
struct WaitShare {
  int op_index = 0;  // position in the op list, from 0
  std::string op;
  std::string part;  // read, parse, decode, resize, other; empty if the op has no parts
  double share = 0;  // of the steps' wall time, over all ranks and repeats
};
template <class Visitor, MaybeConst<WaitShare> Record>
void visit_fields(Visitor&& visit, Record& wait) {
  visit("op_index", wait.op_index);
  visit("op", wait.op);
  visit("part", wait.part);
  visit("share", wait.share);
}

// All figures of one trial. A share of 1 is 100 %. A figure that is undefined for the trial is empty.
struct Figures {
  std::optional<double> images_per_s;      // median over repeats
  std::optional<double> images_per_s_mad;  // median absolute deviation over repeats, not scaled; empty for one repeat
  std::optional<measure::Interval> images_per_s_ci95;
  std::optional<double> scaling_efficiency;  // weak scaling; 1 is linear
  std::optional<measure::Interval> scaling_efficiency_ci95;
  std::optional<double> speedup;           // images/s / images/s of one rank
  std::optional<double> epoch_s;           // time of one pass over the split's images at images_per_s
  std::optional<double> images_per_joule;  // of the GPUs' power alone
  std::optional<double> wait_share;
  std::vector<WaitShare> waits;  // by op and part, longest first; empty if wait_share is below kFedShare
  std::string wait_op;           // of the first of `waits`
  std::string wait_part;
  LimitedBy limit = LimitedBy::nothing;
  std::optional<double> upload_share;
  std::optional<double> compute_share;
  std::optional<double> exposed_communication_share;
  std::optional<double> update_share;
  std::optional<double> other_share;
  std::optional<double> busy_share;           // (upload + compute + update) / wall, by the clock of the steps
  std::optional<double> decoded_per_trained;  // 1 is ideal; N if each of N ranks decodes all images
  std::optional<double> au_share;             // MLPerf Storage's accelerator utilization; emulated engines only
  std::optional<double> images_per_s_per_core;
  std::optional<double> cores_busy_share;  // of the ranks' cores, CPU time of the ranks
  std::optional<double> cpu_wait_share;    // ready threads without a core, per time of the ranks' cores; may exceed 1
  measure::GpuWindow gpu;                  // by NVML, over all GPUs and repeats (gpu_summary.hpp)
  std::optional<double> mean_auroc;        // of a training over epochs: of its representative epoch (learning.hpp)
  std::optional<measure::Interval> mean_auroc_ci95;
  std::optional<double> top1;  // the same of exclusive classes, which have no mean_auroc
  std::optional<measure::Interval> top1_ci95;
  std::optional<double> top5;
  std::optional<int> best_epoch;
  std::optional<double> time_to_auroc_s;  // until training.target_auroc was reached, median over repeats
  bool buffer_fed = false;                // rates.hpp: repeats used up what had been buffered
  std::uint64_t peak_rss_bytes = 0;       // of the largest rank, largest of the repeats
  std::uint64_t anonymous_rss_bytes = 0;  // the same, of anonymous memory only (no mapped files)
};

template <class Visitor, MaybeConst<Figures> Record>
void visit_fields(Visitor&& visit, Record& figures) {
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
  visit_fields(visit, figures.gpu);
}

}  // namespace chexbench::results
