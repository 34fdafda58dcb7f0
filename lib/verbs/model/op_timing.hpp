// Measures the time of a training step by op, for `chexbench model NAME --time-ops`.
#pragma once

#include <string>
#include <vector>

#include "engine/step_parts.hpp"
#include "report/text_table.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

struct OpTimingRequest {
  std::string model;
  int image_size = 224;  // in pixels
  spec::Precision precision = spec::Precision::f32;
  int batch_size = 16;
  int warmup_steps = 2;
  int steps = 5;
};

// Seconds per step, all of them means over the steps.
struct OpTiming {
  OpTimingRequest request;
  std::string device;
  std::vector<engine::OpTime> ops;  // by kind, the slowest first
  double step_s = 0;                // from the end of one step to the end of the next
  double update_s = 0;              // of it: the optimizer
  // The rest: upload, loss, and the gaps between the ops.
  double other_s() const;
};

// Trains the network with engine onednn over ready-made batches of formula values, on all cores that this process may
// use.
// @throws SpecError if the network is unknown or the image too small for it
// @throws DeviceError if this build or this CPU lacks the engine or the precision
OpTiming time_ops(const OpTimingRequest& request);

// Returns plain text for people, at most `width` wide where possible.
std::string op_timing_table(const OpTiming& timing, const report::LineWidth& width = {});
// Returns one JSON object for programs, with units in its keys.
std::string op_timing_json(const OpTiming& timing);

}  // namespace chexbench::verbs
