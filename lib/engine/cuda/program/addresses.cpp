#include "engine/cuda/program/addresses.hpp"

#include <limits>

namespace chexbench::engine::cuda {
namespace {

using model::ParameterRole;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

int Addresses::rows(const Slice& slice) const {
  const Buffer& buffer = config_.program.buffer(slice);
  return config_.images * buffer.pixels();
}

kernels::Matrix Addresses::slice_of(const Slice& slice, std::size_t arena_offset) const {
  std::byte* const buffer = at(regions().arena, arena_offset);
  return {buffer + index(slice.first_channel) * bytes_of(type_), config_.program.buffer(slice).channels};
}

kernels::Matrix Addresses::activation(const Slice& slice) const {
  return slice_of(slice, config_.plan.activations[index(slice.buffer)]);
}

kernels::Matrix Addresses::gradient(const Slice& slice, Target target) const {
  if (target == Target::none) return {};
  const MemoryPlan& plan = config_.plan;
  return slice_of(slice, (target == Target::gradient ? plan.gradients : plan.second_gradients)[index(slice.buffer)]);
}

std::uint8_t* Addresses::winners(int node) const {
  return at<std::uint8_t>(regions().arena, config_.plan.winners[index(node)]);
}

float* Addresses::channels(const Region& region, const Slice& slice) const {
  return at<float>(region, regions().channel_offsets[index(slice.buffer)] + index(slice.first_channel));
}

kernels::NormParameters Addresses::norm(int node) const {
  const Node& norm = config_.program.nodes[index(node)];
  const DeviceRegions& regions = this->regions();
  const std::size_t running = regions.norm_offsets[index(node)];
  return {
      .mean = config_.frozen ? at<float>(regions.running_mean, running) : channels(regions.mean, norm.in),
      .variance = config_.frozen ? at<float>(regions.running_variance, running) : channels(regions.variance, norm.in),
      .weight = vector(config_.parameters.place(norm.layer, ParameterRole::norm_weight)),
      .bias = vector(config_.parameters.place(norm.layer, ParameterRole::norm_bias)),
      .epsilon = static_cast<float>(config_.graph.layers[index(norm.layer)].epsilon)};
}

kernels::Clamp Addresses::clamp(const Node& node) const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (node.activation) {
    case Activation::relu:
      return {0, kInfinity};
    case Activation::relu6:
      return {0, 6};
    case Activation::none:
      break;
  }
  return {-kInfinity, kInfinity};
}

kernels::PoolCall Addresses::pool(const Node& node) const {
  const model::Layer& layer = config_.graph.layers[index(node.pool.exists() ? node.pool.layer : node.layer)];
  const Buffer &in = config_.program.buffer(node.in), &out = config_.program.buffer(node.out);
  return {.type = type_,
          .images = config_.images,
          .channels = node.in.channels,
          .shape = {.height = in.height,
                    .width = in.width,
                    .out_height = out.height,
                    .out_width = out.width,
                    .kernel = layer.kernel,
                    .stride = layer.stride,
                    .padding = layer.padding}};
}

const void* Addresses::matrix(const ParameterPlace& place) const {
  const ParameterRegions& matrices = regions().of(ParameterKind::matrix);
  return at(type_ == FloatType::f32 ? matrices.weights : matrices.copies, place.offset * bytes_of(type_));
}

void* Addresses::matrix_gradient(const ParameterPlace& place) const {
  return at(regions().of(ParameterKind::matrix).gradients, place.offset * bytes_of(type_));
}

float* Addresses::vector(const ParameterPlace& place) const {
  return at<float>(regions().of(ParameterKind::vector).weights, place.offset);
}

float* Addresses::vector_gradient(const ParameterPlace& place) const {
  return at<float>(regions().of(ParameterKind::vector).gradients, place.offset);
}

}  // namespace chexbench::engine::cuda
