// Compares an engine's results in a precision with its results in f32, for `chexbench dev selftest`.
#pragma once

#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

struct PrecisionGate {
  std::string engine = "auto";  // as in a spec
  spec::Precision precision = spec::Precision::fp16;
  std::vector<std::string> models = {"resnet50", "densenet121"};
  int batch_size = 8;
  int image_size = 224;  // height and width, in pixels
};

// Trains each model three times on one batch from the same weights, random but for those of norms: in f32, in the
// precision with separate passes, and in the precision with fused convolutions wherever a fused plan runs. Compares the
// gradients of all parameters after four updates that change nothing, the last of which are replays of a CUDA graph,
// and then the losses of 20 steps. See comparison.hpp for the limits. Takes the time of about 80 steps per model, plus
// finding three sets of plans. Returns a summary for people.
// @throws ComparisonError if one comparison fails; the message has all comparisons, and names the worst parameters
// @throws SpecError if the engine does not train, a model is unknown, or the precision is f32
// @throws DeviceError if the engine is missing, its device fails, or gradients never become finite
std::string precision_gate(const PrecisionGate& gate);

}  // namespace chexbench::verbs
