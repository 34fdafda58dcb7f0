// The comparisons of `chexbench dev selftest`: of an engine and of the data path of this machine with golden values.
#pragma once

#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// The engine to test.
struct SelftestEngine {
  std::string name = "auto";  // as in a spec
  spec::Precision precision = spec::Precision::f32;
};

// Trains the golden file's network on its batch with an engine, and compares it with the golden values, which were
// computed in f64. The allowed deviations are
// - logits: 1e-3 of the largest logit; loss: 5e-4 of the loss
// - gradients, relative to the RMS of their tensor: norms 2e-2 each and 2e-3 in the median, sampled entries 5e-1 each
//   and 2e-2 in the median
// - running statistics: 2e-3 of their norm
// - losses of the first two steps of SGD and of Adam: 5e-2
// This is the accuracy of f32 arithmetic: a rounded activation that changes its sign switches a whole gradient path, so
// in PyTorch's own f32 single entries are off by 3e-1, and a third of ResNet50's by more than 2e-2. tf32 has as few
// bits as fp16, so it is compared with f32 instead (precision_gate()): on an H200, ResNet50's logits were off
// by 1.5e-2. Returns a summary for people.
// @throws ComparisonError if one comparison fails; the message has all comparisons, with the places of the worst
// deviations
// @throws SpecError if the engine does not train, or the precision is not f32
// @throws DataError if the golden file cannot be read
// @throws DeviceError if the engine is missing or its device fails
std::string selftest_engine(const std::string& golden_path, const SelftestEngine& tested = {});

// Trains a small network for three steps by each optimizer, with weight decay, clipping, a moving average of the
// weights, label smoothing and class weights, of labels and of exclusive classes. Compares the loss with the one
// computed from the engine's logits, and each weight and its average with the formulas applied to the engine's own
// gradients. Returns a summary for people.
// @throws ComparisonError if a value is too far away; the message has all comparisons
// @throws SpecError if the engine does not train
// @throws DeviceError if the engine is missing, or its device fails
std::string selftest_updates(const std::string& engine);

// With both decoders, decodes the images of the data set at `root` that are in the golden file, resizes them to 224x224
// with both methods, and compares pixel values in [0, 1], their mean and their standard deviation with the golden ones,
// with a tolerance of 2e-6. Returns a summary for people.
// @throws ComparisonError if a difference is larger; the message names the image, the decoder and the method
// @throws DataError if the golden file, the data set or a decoder is missing, or the data set has none of the golden
// file's images
std::string selftest_preprocess(const std::string& golden_path, const std::string& root);

// Makes the interleave op, parallel and plain, read shards with the lengths in the golden file, and compares the order
// of the records. Writes the shards into a temporary folder, which it removes. Returns a summary for people.
// @throws ComparisonError if an order differs; the message names the case
// @throws DataError if the golden file cannot be read
// @throws OutputError if the shards cannot be written
std::string selftest_interleave(const std::string& golden_path);

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
