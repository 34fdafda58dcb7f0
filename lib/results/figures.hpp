// The figures of a trial. derive_figures() (analysis/derive.hpp) computes them from the repeats by the formulas of
// apps/chexbench/reference/README.md. This header contains only the data, so that readers and writers of files need no
// analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_sampler.hpp"
#include "measure/statistics.hpp"
#include "results/field.hpp"
#include "spec/interval.hpp"

namespace chexbench::results {

// A trial that waits for batches at most this share of its time keeps its accelerator fed; its waits are not attributed
// to ops.
inline constexpr double kFedShare = 0.02;

// The limit of a trial's images/s; see analysis/verdict.hpp for the rules.
enum class LimitedBy { nothing, slow_rank, cpu, input, machine, sample, communication, upload, compute };

// Returns the name of the value, such as "slow_rank", or "" for nothing.
const char* to_string(LimitedBy limit);

// The time that the engine waited because of one op, or of one part of an op.
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

// Why a figure is empty.
inline constexpr const char* kNotReached = "the run ended before the trial";
inline constexpr const char* kNoAuroc = "it did not train over epochs, or no label has an AUROC";
inline constexpr const char* kNoClasses = "it did not train exclusive classes over epochs";

// All figures of one trial. A share of 1 is 100 %. A figure that is undefined for the trial is empty.
struct Figures {
  std::optional<double> images_per_s;
  std::optional<double> images_per_s_mad;
  std::optional<measure::Interval> images_per_s_ci95;
  std::optional<double> scaling_efficiency;
  std::optional<measure::Interval> scaling_efficiency_ci95;
  std::optional<double> speedup;
  std::optional<double> epoch_s;
  std::optional<double> images_per_joule;
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
  std::optional<double> busy_share;
  std::optional<double> decoded_per_trained;
  std::optional<double> au_share;
  std::optional<double> images_per_s_per_core;
  std::optional<double> cores_busy_share;
  std::optional<double> cpu_wait_share;
  measure::GpuWindow gpu;  // by NVML, over all GPUs and repeats (gpu_summary.hpp)
  std::optional<double> mean_auroc;
  std::optional<measure::Interval> mean_auroc_ci95;
  std::optional<double> top1;
  std::optional<measure::Interval> top1_ci95;
  std::optional<double> top5;
  std::optional<int> best_epoch;
  std::optional<double> time_to_auroc_s;
  bool buffer_fed = false;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t anonymous_rss_bytes = 0;
};

template <class Visitor, MaybeConst<Figures> Record>
void visit_fields(Visitor&& visit, Record& figures) {
  visit(Field{"images_per_s", "images/s", "images/s of all ranks: median over repeats", kNotReached},
        figures.images_per_s);
  visit(Field{"images_per_s_mad", "images/s", "median absolute deviation over repeats, unscaled",
              "there are fewer than two repeats"},
        figures.images_per_s_mad);
  visit(
      Field{"images_per_s_ci95", "images/s", "95 % interval of images_per_s, by bootstrap", spec::kTooFewRepeatsCount},
      figures.images_per_s_ci95);
  visit(Field{"scaling_efficiency", "1", "images/s / (N x images/s at 1 rank with the same settings)",
              "these were not measured at 1 rank with as many separate cores"},
        figures.scaling_efficiency);
  visit(Field{"scaling_efficiency_ci95", "1", "95 % interval of scaling_efficiency, by bootstrap",
              spec::kNoScalingInterval},
        figures.scaling_efficiency_ci95);
  visit(Field{"speedup", "1", "images/s / images/s at 1 rank with the same settings",
              "these were not measured at 1 rank"},
        figures.speedup);
  visit(Field{"epoch_s", "s", "time of an epoch at images_per_s",
              "there is no data set, or the run ended before the trial"},
        figures.epoch_s);
  visit(Field{"images_per_joule", "images/J", "images_per_s / power of all GPUs alone", "no GPU reported its power"},
        figures.images_per_joule);
  visit(Field{"wait_share", "1", "share of the steps' wall time spent waiting for batches", kNotReached},
        figures.wait_share);
  visit(Field{"wait_op", "", "op that most waits are attributed to; waits.csv has all", "wait_share is below 2 %"},
        figures.wait_op);
  visit(Field{"wait_part", "", "part of that op, as in waits.csv", "wait_op is, or the op has no parts"},
        figures.wait_part);
  visit("waits", figures.waits);
  visit(Field{"limit", "",
              "what bounds images/s: slow_rank, machine, sample, cpu, input, communication, upload or compute",
              "nothing but the input can, as with engine none, or the run ended before the trial"},
        std::string(to_string(figures.limit)));
  visit(Field{"cores_busy_share", "1", "CPU time of the ranks / time of their cores",
              "ranks share cores, or the run ended before the trial"},
        figures.cores_busy_share);
  visit(Field{"cpu_wait_share", "1", "cpu_wait_s / time of the ranks' cores; may exceed 1",
              "it is a scale model, or the run ended before the trial"},
        figures.cpu_wait_share);
  visit(Field{"upload_share", "1", "share of the steps' wall time: copying batches to the device", kNotReached},
        figures.upload_share);
  visit(Field{"compute_share", "1", "share of the steps' wall time: forward and backward", kNotReached},
        figures.compute_share);
  visit(Field{"exposed_communication_share", "1",
              "share of the steps' wall time: averaging of gradients not overlapped with backward", kNotReached},
        figures.exposed_communication_share);
  visit(Field{"update_share", "1", "share of the steps' wall time: updating the weights", kNotReached},
        figures.update_share);
  visit(Field{"other_share", "1", "share of the steps' wall time: the rest", kNotReached}, figures.other_share);
  visit(Field{"busy_share", "1", "(upload + compute + update) / wall time of the steps", kNotReached},
        figures.busy_share);
  visit(Field{"decoded_per_trained", "1", "images decoded / (images trained on + images_held_change); 1 is ideal",
              "the batches are ready-made, or the run ended before the trial"},
        figures.decoded_per_trained);
  visit(Field{"au_share", "1", "MLPerf Storage's AU: (compute + update) / (ranks x wall time of the slowest)",
              "the engine is not emulated"},
        figures.au_share);
  visit(Field{"images_per_s_per_core", "images/s", "images_per_s / cores of all ranks",
              "ranks share cores, or the run ended before the trial"},
        figures.images_per_s_per_core);
  visit(Field{"mean_auroc", "1", "mean AUROC over labels, at the best epoch", kNoAuroc}, figures.mean_auroc);
  visit(Field{"mean_auroc_ci95", "1", "95 % interval of mean_auroc over patients, by bootstrap", kNoAuroc},
        figures.mean_auroc_ci95);
  visit(Field{"top1", "1", "share of images with their class on top, at the best epoch", kNoClasses}, figures.top1);
  visit(Field{"top1_ci95", "1", "95 % interval of top1 over patients, by bootstrap", kNoClasses}, figures.top1_ci95);
  visit(Field{"top5", "1", "the same for the top five", kNoClasses}, figures.top5);
  visit(Field{"best_epoch", "", "epoch with the highest mean AUROC or top1", "it did not train over epochs"},
        figures.best_epoch);
  visit(Field{"time_to_auroc_s", "s", "elapsed_s when training.target_auroc was reached: median over repeats",
              "there is no target, or a repeat did not reach it"},
        figures.time_to_auroc_s);
  visit(Field{"buffer_fed", "", "over 5 % of the images trained came from buffers filled before"}, figures.buffer_fed);
  visit(Field{"peak_rss_bytes", "bytes", "peak memory of the largest rank", kNotReached}, figures.peak_rss_bytes);
  visit(Field{"anonymous_rss_bytes", "bytes", "largest anonymous memory (RssAnon) of a rank after a step", kNotReached},
        figures.anonymous_rss_bytes);
  visit_fields(visit, figures.gpu);
}

}  // namespace chexbench::results
