#include "engine/cuda/convolution/conv_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chexbench::engine::cuda {

double ConvShape::flops() const {
  return 2.0 * images * out_height() * out_width() * out_channels * group_channels() * kernel * kernel;
}

std::string ConvShape::text() const {
  const auto channels = [](int count, int pixel_stride) {
    return pixel_stride == count ? fmt::format("{}", count) : fmt::format("{}/{}", count, pixel_stride);
  };
  return fmt::format("n{} {}x{}x{} -> {} k{} s{}{}", images, channels(in_channels, in_pixel_stride), height, width,
                     channels(out_channels, out_pixel_stride), kernel, stride,
                     groups > 1 ? fmt::format(" g{}", groups) : "");
}

ConvShape conv_shape(const model::Graph& graph, const Program& program, const Node& node, int images) {
  const model::Layer& layer = graph.layers[static_cast<std::size_t>(node.layer)];
  const Buffer& in = program.buffer(node.in);
  return {.images = images,
          .in_channels = node.in.channels,
          .height = in.height,
          .width = in.width,
          .out_channels = node.out.channels,
          .kernel = layer.kernel,
          .stride = layer.stride,
          .padding = layer.padding,
          .groups = layer.groups,
          .in_pixel_stride = in.channels,
          .out_pixel_stride = program.buffer(node.out).channels,
          .reads_images = node.in.buffer == program.input.buffer};
}

ConvShape with_packed_output(ConvShape shape) {
  shape.out_pixel_stride = shape.out_channels;
  return shape;
}

std::vector<ConvShape> conv_shapes(const model::Graph& graph, const Program& program, int images) {
  std::vector<ConvShape> shapes;
  for (const Node& node : program.nodes) {
    if (node.kind != NodeKind::convolution) continue;
    const ConvShape shape = conv_shape(graph, program, node, images);
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace chexbench::engine::cuda
