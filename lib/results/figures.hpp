// The figures of a trial: what is reported of it, as analysis/derive.hpp computes it from the trial's repeats. Plain
// data; the formulas are in analysis/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_window.hpp"
#include "measure/statistics.hpp"

namespace chexbench::results {

// A trial that waits for less of its time than this keeps its accelerator fed.
inline constexpr double kFedShare = 0.02;

// A part of a trial's time that the engine waited because of one op.
struct WaitShare {
  std::string op;
  std::string part;  // read, parse, decode, resize, other; empty where the op has no parts
  double share = 0;  // of the steps' time
};

// What is reported of a trial, from its repeats. Formulas: README.md beside this file. Undefined values are empty.
struct Figures {
  std::optional<double> images_per_s;
  std::optional<double> images_per_s_mad;
  std::optional<measure::Interval> images_per_s_ci95;
  std::optional<double> scaling_efficiency;
  std::optional<double> wait_share;
  std::vector<WaitShare> waits;  // what waits are booked to, longest first; empty where they are under 2 % of the time
  std::string wait_op;           // of the first of them
  std::string wait_part;
  std::string limit;  // what bounds the images/s: a word of verdict.hpp
  std::optional<double> upload_share;
  std::optional<double> compute_share;
  std::optional<double> exposed_communication_share;
  std::optional<double> update_share;
  std::optional<double> other_share;
  std::optional<double> busy_share;  // (compute + update + upload) / wall on the device
  std::optional<double> decoded_per_trained;
  std::optional<double> au_share;  // MLPerf Storage's accelerator utilization: emulated engines only
  std::optional<double> images_per_s_per_core;
  std::optional<double> cores_busy_share;  // of the ranks' cores, by this process
  std::optional<double> cpu_wait_share;    // of the ranks' cores' time: threads that were ready and had no core
  measure::GpuWindow gpu;                  // by NVML, over all GPUs and repeats (gpu.hpp)
  std::optional<double> mean_auroc;        // of trainings over epochs (learning.hpp): the best epoch's
  std::optional<measure::Interval> mean_auroc_ci95;
  std::optional<int> best_epoch;
  std::optional<double> time_to_auroc_s;  // to training.target_auroc
  bool buffer_fed = false;
  std::uint64_t peak_rss_bytes = 0;       // largest of the repeats
  std::uint64_t anonymous_rss_bytes = 0;  // likewise
};

}  // namespace chexbench::results
