// Measures an engine of this machine and makes an accelerator profile, from which the emulated engine takes its times.
// See README.md for its contents and accuracy.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "report/text_table.hpp"
#include "results/record.hpp"
#include "spec/profile.hpp"

namespace chexbench::verbs {

// The combinations to measure, and how each is measured.
struct CalibrationRequest {
  std::string engine = "auto";  // as in a spec; one that computes
  std::vector<std::string> models{"resnet50"};
  std::vector<spec::Precision> precisions{spec::Precision::f32};
  std::vector<int> batch_sizes{4, 8, 16};
  int image_size = 224;
  int warmup_steps = 3;
  int steps = 12;
  int repeats = 5;
};

// Returns a report for run_trials() with one trial for each combination of model, precision and batch size, nothing
// measured yet. The trials use ready-made batches on all ranks of the world. Not collective.
// @throws SpecError if the engine does not compute, a model is unknown, the image size is too small for it, or a
// combination is repeated
// @throws DeviceError if this build has no such engine, or the engine cannot compute a network
results::Report plan_calibration(const CalibrationRequest& request, comm::World& world);

// Returns the measurements as the profile `name`, with one entry for each trial that has repeats. The time of a step
// leaves out waiting for batches and for other ranks. Like a run's images/s, it is the mean over the steps and ranks of
// a repeat, and it comes from the repeat with the median step (the mean of the two middle ones if their number is
// even). A pure function.
spec::AcceleratorProfile make_profile(const results::Report& report, const std::string& name);

// Returns plain text: the name and the device, then a table with one row for each entry, times in ms. The spread is the
// median absolute deviation of images/s in percent, if the profile has it. The table is at most `width` wide where
// possible.
std::string profile_table(const spec::AcceleratorProfile& profile, const report::LineWidth& width = {});

}  // namespace chexbench::verbs
