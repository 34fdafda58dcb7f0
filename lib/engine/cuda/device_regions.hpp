// The one allocation of an engine, and what lies where in it.
#pragma once

#include <cstddef>
#include <vector>

#include "core/batch.hpp"
#include "engine/cuda/parameter_layout.hpp"
#include "engine/cuda/program.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// Offset from the begin of the allocation, a multiple of kRegionAlignBytes.
struct Region {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

inline constexpr std::size_t kRegionAlignBytes = 256;  // of cudaMalloc; vectors of 16 bytes need less

// Steps alternate between two of what the host fills or reads, so that it works on one while the device has the other.
inline constexpr int kSlots = 2;

struct RegionRequest {
  int images = 0;
  int image_size = 0;
  int outputs = 0;  // of the last layer, without padding
  Deliver deliver = Deliver::f32;
  spec::Precision precision = spec::Precision::f32;
  spec::OptimizerKind optimizer = spec::OptimizerKind::adam;
  std::size_t arena_bytes = 0;
  std::size_t workspace_bytes = 0;  // of the convolutions and linear layers
  int multiprocessors = 132;        // of an H100 or H200; only the size of partial sums depends on it
  bool has_prologues = false;
  bool accumulates = false;  // gradients over several batches of a step
};

struct ParameterRegions {
  Region weights;    // f32
  Region gradients;  // matrices in the type of the activations, vectors f32
  Region first;      // f32: Adam's mean of gradients, or the velocity
  Region second;     // f32: Adam's mean of squares; empty for SGD
  Region copies;     // of matrices in the type of the activations; empty where that is f32
  Region sums;       // f32: of the gradients of a step's batches so far; empty where a step has one
};

struct DeviceRegions {
  ParameterRegions parameters[kParameterKinds];
  // f32, a value for each channel of each buffer (channel_offsets): statistics, and b and c of
  // kernels/norm_backward.hpp.
  Region mean, variance, slope, constant;
  // f32, two rows of the most channels a buffer has, from one kernel to the next: sums of a convolution's output, and
  // what its data gradient takes and gives of the norm before it.
  Region channel_rows;
  // f32, a value for each channel of each norm (norm_offsets), and where its statistics are (kernels/statistics.hpp).
  Region running_mean, running_variance, running_source, running_unbias;
  Region prologue_scale, prologue_shift;  // of each norm, in the type of the activations; empty without prologues
  Region images[kSlots], labels[kSlots], losses[kSlots];
  Region logits;  // f32[images][outputs]
  Region scalars, reductions, workspace, arena;
  std::size_t bytes = 0;

  std::vector<std::size_t> channel_offsets;  // of each buffer, in values
  std::vector<std::size_t> norm_offsets;     // of each node, in values; back(): how many there are

  std::size_t parameter_bytes() const;
  std::size_t channel_bytes() const;  // all that is kept by channel
  std::size_t batch_bytes() const;    // images and labels
};

// Where the values of each node's norm begin, and behind the last one's end how many there are.
std::vector<std::size_t> norm_offsets(const Program& program);

DeviceRegions lay_out(const Program& program, const ParameterLayout& parameters, const RegionRequest& request);

}  // namespace chexbench::engine::cuda
