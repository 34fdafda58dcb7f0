// Lists the tensors of a network, its parameters and buffers; counts its floating-point operations; and computes when
// in backward each gradient is complete. Pure functions of a graph, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/graph.hpp"

namespace chexbench::model {

enum class ParameterRole { convolution_weight, linear_weight, bias, norm_weight, norm_bias };

// A tensor that is trained.
struct Parameter {
  TensorInfo info;
  ParameterRole role = ParameterRole::bias;
  int layer = 0;  // index in Graph::layers
};

// Returns all parameters, in the order of the layers; within a layer the weight comes before the bias.
std::vector<Parameter> parameters(const Graph& graph);
// Returns the same parameters in the order in which backward completes their gradients: from the last layer to the
// first.
std::vector<Parameter> backward_parameters(const Graph& graph);
// Returns the running_mean and running_var of each batch norm, in the order of the layers. They are not trained.
std::vector<TensorInfo> buffers(const Graph& graph);
// Returns the number of trained values, the elements of all parameters.
std::int64_t parameter_count(const Graph& graph);

// Returns the floating-point operations of the forward pass of one image, of the whole network or of one layer. A
// multiply-add counts as two. Only convolutions and linear layers count, without their biases. Backward costs twice as
// much (the gradients of the data and of the weights).
double forward_flops(const Graph& graph);
double forward_flops(const Graph& graph, int layer);

// Returns, for each layer of Graph::layers, the share of backward's time after which the gradients of its parameters
// are complete, assuming that time is proportional to FLOPs: near 0 for the last layer, 1 for the first.
std::vector<double> backward_ready_share(const Graph& graph);

// A bucket of gradients, which is averaged over ranks at once: a run of consecutive tensors, in the order in which
// backward completes their gradients.
struct BucketRange {
  std::size_t first_tensor = 0;  // index in that order
  std::size_t tensors = 0;
  std::int64_t elements = 0;  // f32 values of all its tensors together

  friend bool operator==(const BucketRange&, const BucketRange&) = default;
};

// The sizes at which a bucket is closed, counting 4 bytes per element regardless of the type that is sent.
struct BucketLimits {
  std::int64_t first_bytes = 0;  // of the first bucket; small, so that communication starts early
  std::int64_t bytes = 0;        // of the other buckets
};

// Returns the buckets for tensors of `element_counts` f32 values each, in backward order. A bucket is closed by the
// tensor that brings it to its limit, so no tensor is cut, no bucket is empty, and a bucket may be larger than its
// limit (Li et al., "PyTorch Distributed", VLDB 2020). The same input gives the same plan, so all ranks agree without
// communication.
std::vector<BucketRange> plan_buckets(std::span<const std::int64_t> element_counts, BucketLimits limits);

}  // namespace chexbench::model
