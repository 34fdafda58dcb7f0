// One repeat of one trial on one rank: THE loop. Everything that a trial is made of is built by the protocol
// (protocol.hpp) and handed in; nothing here knows of sweeps, files or reports.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/gpu_watch.hpp"
#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// What a repeat runs on. References must outlive the call.
struct TrialContext {
  const spec::Experiment& spec;
  const dataset::Dataset& dataset;
  engine::Engine& engine;
  comm::Communicator& communicator;  // the ranks of this trial
  Reducer& reducer;                  // over the same ranks
  GpuWatch& gpu_watch;               // of the engine's GPU
  std::vector<int> cores;            // of this rank
  int repeat = 0;
  std::string checkpoint_folder;  // of this repeat of a training over epochs; empty: it writes none
  std::function<void(std::int64_t step, std::int64_t total_steps)> on_step;  // for a progress line; may be empty
};

// Runs warm-up and measured steps with a fresh pipeline and fresh weights: the repeat as this rank alone saw it.
// Collective over the communicator.
// @throws SpecError where a finite pipeline ends too early, DataError, DeviceError, InterruptedError
results::RepeatResult run_repeat(const TrialContext& context);

}  // namespace chexbench::bench
