// Runs one repeat of one trial on one rank: the loop. The protocol (protocol.hpp) builds everything that a trial needs
// and passes it in; the loop is independent of sweeps, files and reports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/step_observer.hpp"
#include "bench/training/epoch_events.hpp"
#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "pipeline/pipeline.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Thrown if TrialContext::stop_at_s passes before the repeat ends. A caller that sets the time catches it.
struct TimeIsUp : Error {
  TimeIsUp() : Error(ExitCode::data, "the time for measuring is up") {}
};

// The inputs of a repeat. The references must outlive the call.
struct TrialContext {
  const spec::TrialSpec& spec;
  const dataset::Dataset& dataset;
  engine::Engine& engine;
  comm::Communicator& communicator;  // the ranks of this trial
  Reducer& reducer;                  // over the same ranks
  GpuWatch& gpu_watch;               // of the engine's GPU
  std::vector<int> cores;            // of this rank
  bool shares_cores = false;         // with other ranks
  SecondJob* second_job = nullptr;   // on this host; set on one rank of each host, and only if the trial has one
  int repeat = 0;
  pipeline::TunedValues tuned;      // values for the pipeline's "auto" (tuning.hpp)
  std::string checkpoint_folder;    // for a training over epochs; empty if this repeat writes no checkpoints
  EventPlace events;                // for a training over epochs, on rank 0
  OnStep on_step;                   // updates a progress line; may be empty
  std::optional<double> stop_at_s;  // by now_s(): the repeat is abandoned then; only for a communicator of one rank
  // Stores this rank's result before a training over epochs writes its last checkpoint. May be empty. Collective.
  std::function<void(const results::RepeatResult& mine)> on_measured;
};

// A rank's activity in the steps of a repeat, shown after the number of the step: Communicator::enter_step().
comm::Phase stepping(std::int64_t total_steps, int repeat);

// Runs warm-up and measured steps with a new pipeline and newly initialized weights. Returns this rank's result;
// merge_ranks() combines the ranks. Collective over the communicator.
// @throws SpecError if a finite pipeline ends too early; DataError if an image cannot be read; DeviceError if the
// engine or the communicator fails; InterruptedError after a signal; TimeIsUp
results::RepeatResult run_repeat(const TrialContext& context);

}  // namespace chexbench::bench
