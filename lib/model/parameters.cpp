#include "model/parameters.hpp"

#include <algorithm>

namespace chexbench::model {
namespace {

void add_parameters(const Graph& graph, int index, std::vector<Parameter>& to) {
  const Layer& layer = graph.layers[static_cast<std::size_t>(index)];
  const auto add = [&](const char* suffix, std::vector<std::int64_t> shape, ParameterRole role) {
    to.push_back({.info = {layer.name + suffix, std::move(shape)}, .role = role, .layer = index});
  };
  if (layer.kind == LayerKind::batch_norm) {
    add(".weight", {layer.channels}, ParameterRole::norm_weight);
    add(".bias", {layer.channels}, ParameterRole::norm_bias);
    return;
  }
  if (layer.kind != LayerKind::convolution && layer.kind != LayerKind::linear) return;
  const std::int64_t inputs = graph.layers[static_cast<std::size_t>(layer.inputs.front())].channels / layer.groups;
  if (layer.kind == LayerKind::convolution) {
    add(".weight", {layer.channels, inputs, layer.kernel, layer.kernel}, ParameterRole::convolution_weight);
  } else {
    add(".weight", {layer.channels, inputs}, ParameterRole::linear_weight);
  }
  if (layer.bias) add(".bias", {layer.channels}, ParameterRole::bias);
}

}  // namespace

std::vector<Parameter> parameters(const Graph& graph) {
  std::vector<Parameter> result;
  for (int layer = 0; layer < static_cast<int>(graph.layers.size()); ++layer) add_parameters(graph, layer, result);
  return result;
}

std::vector<Parameter> backward_parameters(const Graph& graph) {
  std::vector<Parameter> result;
  for (int layer = static_cast<int>(graph.layers.size()) - 1; layer >= 0; --layer) add_parameters(graph, layer, result);
  return result;
}

std::vector<TensorInfo> buffers(const Graph& graph) {
  std::vector<TensorInfo> result;
  for (const Layer& layer : graph.layers) {
    if (layer.kind != LayerKind::batch_norm) continue;
    result.push_back({layer.name + ".running_mean", {layer.channels}});
    result.push_back({layer.name + ".running_var", {layer.channels}});
  }
  return result;
}

std::int64_t parameter_count(const Graph& graph) {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters(graph)) count += parameter.info.count();
  return count;
}

double forward_flops(const Graph& graph, int index) {
  std::vector<Parameter> own;
  add_parameters(graph, index, own);
  if (own.empty() || own.front().role == ParameterRole::norm_weight) return 0;
  const Layer& layer = graph.layers[static_cast<std::size_t>(index)];
  return 2.0 * static_cast<double>(own.front().info.count()) * static_cast<double>(layer.pixels());
}

double forward_flops(const Graph& graph) {
  double total = 0;
  for (int layer = 0; layer < static_cast<int>(graph.layers.size()); ++layer) total += forward_flops(graph, layer);
  return total;
}

std::vector<double> backward_ready_share(const Graph& graph) {
  const double total = std::max(forward_flops(graph), 1.0);
  std::vector<double> share(graph.layers.size());
  double done = 0;
  for (int layer = static_cast<int>(graph.layers.size()) - 1; layer >= 0; --layer) {
    done += forward_flops(graph, layer);
    share[static_cast<std::size_t>(layer)] = std::min(done / total, 1.0);
  }
  return share;
}

std::vector<BucketRange> plan_buckets(std::span<const std::int64_t> element_counts, BucketLimits limits) {
  std::vector<BucketRange> buckets;
  bool open = false;
  for (std::size_t i = 0; i < element_counts.size(); ++i) {
    if (!open) buckets.push_back({.first_tensor = i});
    BucketRange& bucket = buckets.back();
    ++bucket.tensors;
    bucket.elements += element_counts[i];
    const std::int64_t limit_bytes = buckets.size() == 1 ? limits.first_bytes : limits.bytes;
    open = bucket.elements * static_cast<std::int64_t>(sizeof(float)) < limit_bytes;
  }
  return buckets;
}

}  // namespace chexbench::model
