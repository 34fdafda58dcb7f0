// What a network learns: its parameters and buffers, and when in backward each gradient is complete.
#pragma once

#include <vector>

#include "model/graph.hpp"

namespace chexbench::model {

enum class ParameterRole { convolution_weight, linear_weight, bias, norm_weight, norm_bias };

// One tensor that is trained.
struct Parameter {
  TensorInfo info;
  ParameterRole role = ParameterRole::bias;
  int layer = 0;  // index in Graph::layers
};

// All parameters, in the order of the layers.
std::vector<Parameter> parameters(const Graph& graph);
// The same in the order in which backward completes their gradients: layers last to first.
std::vector<Parameter> backward_parameters(const Graph& graph);
// running_mean and running_var of each batch norm, in the order of the layers.
std::vector<TensorInfo> buffers(const Graph& graph);
std::int64_t parameter_count(const Graph& graph);

// Floating-point operations (a multiply-add counts two) of the forward pass of one image: convolutions and linear
// layers alone. Backward costs twice that (gradients of data and of weights).
double forward_flops(const Graph& graph);
double forward_flops(const Graph& graph, int layer);

// For each layer, the share of backward's time after which its parameters' gradients are complete, if time went by
// FLOPs: 0 at the begin of backward, 1 for the first layer. Indexed like Graph::layers.
std::vector<double> backward_ready_share(const Graph& graph);

}  // namespace chexbench::model
