// The shape of one convolution, in the form for requesting plans from cuDNN.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "engine/cuda/program/program.hpp"
#include "model/graph.hpp"

namespace chexbench::engine::cuda {

// Input and output are NHWC; weights are [out_channels][kernel][kernel][in_channels / groups]. Lengths are in
// elements.
struct ConvShape {
  int images = 0;
  int in_channels = 0;
  int height = 0;  // of the input; the output's is out_height()
  int width = 0;
  int out_channels = 0;
  int kernel = 1;
  int stride = 1;
  int padding = 0;
  int groups = 1;  // groups of channels that are convolved separately; a depthwise convolution has one per channel
  // Distances between pixels, in elements. They equal the numbers of channels, or are larger if input or output is a
  // slice of a wider buffer.
  int in_pixel_stride = 0;
  int out_pixel_stride = 0;
  bool reads_images = false;  // its input is the images, whose gradient is not needed

  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  int group_channels() const { return in_channels / groups; }  // input channels that one output reads
  int group_outputs() const { return out_channels / groups; }  // output channels of one group
  // Whether input and output are whole buffers.
  bool packed() const { return in_pixel_stride == in_channels && out_pixel_stride == out_channels; }
  // Floating-point operations of one pass; forward, data gradient and weight gradient need the same number. A
  // multiply-add counts as two.
  double flops() const;
  // For people and file names: "n256 64x56x56 -> 256 k1 s1". Pixel strides are shown only if they are larger than the
  // number of channels ("64/256"), and groups only if there are several: "n256 96x56x56 -> 96 k3 s1 g96".
  std::string text() const;

  friend auto operator<=>(const ConvShape&, const ConvShape&) = default;
};

// Returns the shape of convolution `node` of a program that was lowered from `graph`, for batches of `images`.
ConvShape conv_shape(const model::Graph& graph, const Program& program, const Node& node, int images);

// Returns the shape of the same convolution with a separate output buffer.
ConvShape with_packed_output(ConvShape shape);

// Returns the distinct shapes of all convolutions, in the order in which they first appear.
std::vector<ConvShape> conv_shapes(const model::Graph& graph, const Program& program, int images);

}  // namespace chexbench::engine::cuda
