// Lists the tensors of a network, its parameters and buffers; counts its floating-point operations; and says when in
// backward each gradient is complete. Pure functions of a graph, thread-safe.
#pragma once

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

}  // namespace chexbench::model
