// The one allocation of device memory of an engine, and the regions into which it is divided.
#pragma once

#include <cstddef>
#include <vector>

#include "core/batch.hpp"
#include "engine/cuda/program/parameter_layout.hpp"
#include "engine/cuda/program/program.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// A part of the allocation. `offset` is counted in bytes from the beginning of the allocation and is a multiple of
// kRegionAlignBytes.
struct Region {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

inline constexpr std::size_t kRegionAlignBytes = 256;  // as cudaMalloc's; 16-byte vectors need less

// The number of slots for data that the host fills or reads. Passes alternate between two slots, so that the host works
// on one while the device uses the other.
inline constexpr int kSlots = 2;

// Additional regions for the options of a training (TrainingSpec).
struct LearningRequest {
  bool averages = false;     // a moving average of the weights
  bool clips = false;        // the norm of all gradients
  bool has_classes = false;  // sums of each image of a softmax
  bool weighs_classes = false;
};

LearningRequest learning_request(const spec::TrainingSpec& training, bool weighs_classes);

// The inputs for the sizes of the regions, besides the program and its parameters.
struct RegionRequest {
  int images = 0;
  int image_size = 0;
  int outputs = 0;  // of the network, without padding
  Deliver deliver = Deliver::f32;
  spec::Precision precision = spec::Precision::f32;
  spec::OptimizerKind optimizer = spec::OptimizerKind::adam;
  std::size_t arena_bytes = 0;
  std::size_t workspace_bytes = 0;                  // shared by convolutions and linear layers
  std::size_t weight_gradient_workspace_bytes = 0;  // of weight gradients that run concurrently with them
  int multiprocessors = 132;                        // of an H100 or H200; only the size of partial sums depends on it
  bool has_prologues = false;                       // whether convolutions compute the norm before them
  bool accumulates = false;                         // gradients are summed over several batches of a step
  LearningRequest learning;
};

// The flat arrays of all parameters of one kind (parameter_layout.hpp).
struct ParameterRegions {
  Region weights;    // f32
  Region gradients;  // matrices in the type of the activations, vectors in f32
  Region first;      // f32: Adam's mean of gradients, or SGD's velocity
  Region second;     // f32: Adam's mean of squared gradients; empty for SGD
  Region copies;     // matrices in the type of the activations; empty if that is f32, and for vectors
  Region sums;       // f32: sums of gradients over a step's batches so far; empty if a step has one batch
  Region average;    // f32: moving average of the weights; empty without one
};

// All regions of the allocation, by purpose.
struct DeviceRegions {
  ParameterRegions parameters[kParameterKinds];
  // f32, one value for each channel of each buffer (channel_offsets): statistics, the values of norms that data
  // gradients read, and the b and c of kernels/norm_backward.hpp.
  Region mean, variance, inverse_deviation, slope, constant;
  // f32, two rows as long as the widest buffer has channels. They carry values from one kernel to the next: the sums of
  // a convolution's output, and its data gradient's results other than the gradients of the norm before it.
  Region channel_rows;
  // One value for each channel of each norm (norm_offsets): the running statistics, and the tables of the channel that
  // each of them is updated from and of the factor (kernels/norm_forward.hpp). running_source is int32, the others are
  // f32.
  Region running_mean, running_variance, running_source, running_unbias;
  // One value for each channel of each norm, in the type of the activations; empty without prologues.
  Region prologue_scale, prologue_shift;
  Region images[kSlots], labels[kSlots], losses[kSlots];
  Region logits;         // f32[images][outputs]
  Region softmax_rows;   // sums of each image of a softmax (kernels/loss.hpp); empty without one
  Region class_weights;  // f32[outputs]; empty if all have equal weight
  Region norm_partials;  // f64, for each kind of parameters: sums of squares (kernels/gradients.hpp); may be empty
  Region scalars, reductions, workspace, weight_gradient_workspace, arena;
  std::size_t bytes = 0;

  std::vector<std::size_t> channel_offsets;  // of each buffer, in values; back() is their number
  std::vector<std::size_t> norm_offsets;     // of each node, in values; back() is their number

  const ParameterRegions& of(ParameterKind kind) const { return parameters[static_cast<std::size_t>(kind)]; }
  std::size_t parameter_bytes() const;
  std::size_t channel_bytes() const;  // all regions by channel
  std::size_t batch_bytes() const;    // images and labels
};

// Returns for each node where the values of its norm begin, and at the end how many values there are.
std::vector<std::size_t> norm_offsets(const Program& program);

// Returns the regions, one after another without overlap. Pure arithmetic: allocates nothing.
DeviceRegions lay_out(const Program& program, const ParameterLayout& parameters, const RegionRequest& request);

}  // namespace chexbench::engine::cuda
