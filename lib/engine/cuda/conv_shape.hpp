// One convolution as cuDNN is asked for it.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "engine/cuda/program.hpp"
#include "model/graph.hpp"

namespace chexbench::engine::cuda {

// Input and output are NHWC; weights are [out_channels, kernel, kernel, in_channels / groups].
struct ConvShape {
  int images = 0;
  int in_channels = 0;
  int height = 0;  // of the input
  int width = 0;
  int out_channels = 0;
  int kernel = 1;
  int stride = 1;
  int padding = 0;
  int groups = 1;           // of channels that are convolved apart; depthwise: as many as there are
  int in_pixel_stride = 0;  // elements from pixel to pixel: in_channels, or more where it is a slice of a wider buffer
  int out_pixel_stride = 0;
  bool reads_images = false;  // nobody wants the gradient of its input

  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  int group_channels() const { return in_channels / groups; }  // that one output sees
  int group_outputs() const { return out_channels / groups; }
  bool packed() const { return in_pixel_stride == in_channels && out_pixel_stride == out_channels; }
  // Of one pass; forward, data gradient and weight gradient cost the same. A multiply-add counts two.
  double flops() const;
  // For people and file names: "n256 64x56x56 -> 256 k1 s1", pixel strides only where they are wider than the channels,
  // and groups where there are several: "n256 96x56x56 -> 96 k3 s1 g96".
  std::string text() const;

  friend auto operator<=>(const ConvShape&, const ConvShape&) = default;
};

// Of convolution `node` of a program lowered from `graph`, in steps of `images`.
ConvShape conv_shape(const model::Graph& graph, const Program& program, const Node& node, int images);

// The distinct shapes of all convolutions, in the order in which they first appear.
std::vector<ConvShape> conv_shapes(const model::Graph& graph, const Program& program, int images);

}  // namespace chexbench::engine::cuda
