// Measuring the engine at hand into an accelerator profile, which the emulated engine then takes its times from.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "spec/profile.hpp"

namespace chexbench::verbs {

struct CalibrationRequest {
  std::string engine = "auto";
  std::vector<std::string> models{"resnet50"};
  std::vector<spec::Precision> precisions{spec::Precision::f32};
  std::vector<int> batch_sizes{4, 8, 16};
  int image_size = 224;
  int warmup_steps = 3;
  int steps = 12;
  int repeats = 5;
};

// A report with a trial of each combination, nothing measured yet, for run_trials(): ready-made batches, all ranks.
// Collective over the world.
// @throws SpecError for an engine that does not compute, or an unknown model; DeviceError for an engine not to be had
results::Report plan_calibration(const CalibrationRequest& request, comm::World& world);

// What was measured as a profile called `name`, an entry for each trial that has repeats; no entries where none has.
// The time of a step leaves out waiting for batches and for other ranks. It is the mean over a repeat's steps and
// ranks, as images/s of a run are, of the repeat whose step is the median.
spec::AcceleratorProfile make_profile(const results::Report& report, const std::string& name);

}  // namespace chexbench::verbs
