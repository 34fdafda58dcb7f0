// Layers computed by plain loops in double; used to interpret programs and graphs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "model/graph.hpp"

namespace chexbench::engine::cuda {

struct FeatureMap {
  int images = 0, height = 0, width = 0, channels = 0;
  std::vector<double> values;  // NHWC

  FeatureMap(int images_, int height_, int width_, int channels_)
      : images(images_),
        height(height_),
        width(width_),
        channels(channels_),
        values(static_cast<std::size_t>(images_ * height_ * width_ * channels_)) {}

  double& at(int n, int y, int x, int c) { return values[index(n, y, x, c)]; }
  double at(int n, int y, int x, int c) const { return values[index(n, y, x, c)]; }
  bool holds(int y, int x) const { return y >= 0 && y < height && x >= 0 && x < width; }

 private:
  std::size_t index(int n, int y, int x, int c) const {
    return static_cast<std::size_t>(((n * height + y) * width + x) * channels + c);
  }
};

// Calls `take` for each place of `in` that the window of output (n, y, x) covers.
template <typename Take>
void each_window(const model::Layer& layer, const FeatureMap& in, int n, int y, int x, Take take) {
  for (int ky = 0; ky < layer.kernel; ++ky) {
    for (int kx = 0; kx < layer.kernel; ++kx) {
      const int iy = y * layer.stride + ky - layer.padding, ix = x * layer.stride + kx - layer.padding;
      if (in.holds(iy, ix)) take(n, iy, ix, ky, kx);
    }
  }
}

template <typename Value>
FeatureMap make_map(const FeatureMap& like, int height, int width, int channels, Value value) {
  FeatureMap out(like.images, height, width, channels);
  for (int n = 0; n < out.images; ++n)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < channels; ++c) out.at(n, y, x, c) = value(n, y, x, c);
  return out;
}

inline int out_size(const model::Layer& layer, int size) {
  return (size + 2 * layer.padding - layer.kernel) / layer.stride + 1;
}

// Convolves the first `inputs` channels of `in` with `weight`, which is in PyTorch's order (OIHW). Each group of
// outputs reads its share of the inputs.
inline FeatureMap convolve(const model::Layer& layer, const FeatureMap& in, int inputs,
                           const std::vector<float>& weight) {
  const int k = layer.kernel, ins = inputs / layer.groups, outs = layer.channels / layer.groups;
  return make_map(in, out_size(layer, in.height), out_size(layer, in.width), layer.channels,
                  [&](int n, int y, int x, int o) {
                    double sum = 0;
                    each_window(layer, in, n, y, x, [&](int, int iy, int ix, int ky, int kx) {
                      for (int c = 0; c < ins; ++c)
                        sum += in.at(n, iy, ix, o / outs * ins + c) *
                               weight[static_cast<std::size_t>(((o * ins + c) * k + ky) * k + kx)];
                    });
                    return sum;
                  });
}

inline FeatureMap pool(const model::Layer& layer, const FeatureMap& in) {
  const bool max = layer.kind == model::LayerKind::max_pool;
  return make_map(in, layer.height, layer.width, in.channels, [&](int n, int y, int x, int c) {
    double result = max ? -std::numeric_limits<double>::infinity() : 0;
    each_window(layer, in, n, y, x, [&](int, int iy, int ix, int, int) {
      const double value = in.at(n, iy, ix, c);
      result = max ? std::max(result, value) : result + value / (layer.kernel * layer.kernel);
    });
    return result;
  });
}

inline FeatureMap global_average(const FeatureMap& in) {
  return make_map(in, 1, 1, in.channels, [&](int n, int, int, int c) {
    double sum = 0;
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) sum += in.at(n, y, x, c);
    return sum / (in.height * in.width);
  });
}

// Averages into `size` x `size` outputs, like PyTorch's AdaptiveAvgPool2d.
inline FeatureMap adaptive_average(const FeatureMap& in, int size) {
  const auto begin = [&](int i, int of) { return i * of / size; };
  const auto end = [&](int i, int of) { return static_cast<int>(std::ceil((i + 1.0) * of / size)); };
  return make_map(in, size, size, in.channels, [&](int n, int y, int x, int c) {
    double sum = 0;
    int count = 0;
    for (int h = begin(y, in.height); h < end(y, in.height); ++h)
      for (int w = begin(x, in.width); w < end(x, in.width); ++w, ++count) sum += in.at(n, h, w, c);
    return sum / count;
  });
}

// Orders values channel by channel, as channels of one pixel.
inline FeatureMap flatten(const FeatureMap& in) {
  const int pixels = in.height * in.width;
  return make_map(in, 1, 1, in.channels * pixels,
                  [&](int n, int, int, int i) { return in.at(n, i % pixels / in.width, i % in.width, i / pixels); });
}

inline FeatureMap add_bias(const FeatureMap& in, const std::vector<float>& bias) {
  return make_map(in, in.height, in.width, in.channels, [&](int n, int y, int x, int c) {
    return in.at(n, y, x, c) + static_cast<double>(bias[static_cast<std::size_t>(c)]);
  });
}

// Computes a linear layer without its bias. `weight` is for values in PyTorch's flattened order.
inline FeatureMap linear(const FeatureMap& map, int outputs, const std::vector<float>& weight) {
  const FeatureMap in = flatten(map);
  return make_map(in, 1, 1, outputs, [&](int n, int, int, int o) {
    double sum = 0;
    for (int c = 0; c < in.channels; ++c)
      sum += in.at(n, 0, 0, c) * weight[static_cast<std::size_t>(o) * static_cast<std::size_t>(in.channels) + c];
    return sum;
  });
}

struct ChannelStatistics {
  double mean = 0;
  double variance = 0;  // Biased.
};

inline std::vector<ChannelStatistics> statistics(const FeatureMap& in) {
  std::vector<ChannelStatistics> result(static_cast<std::size_t>(in.channels));
  const double count = in.images * in.height * in.width;
  for (std::size_t i = 0; i < in.values.size(); ++i) result[i % result.size()].mean += in.values[i] / count;
  for (std::size_t i = 0; i < in.values.size(); ++i) {
    ChannelStatistics& channel = result[i % result.size()];
    channel.variance += std::pow(in.values[i] - channel.mean, 2) / count;
  }
  return result;
}

inline FeatureMap normalize(const FeatureMap& in, const std::vector<ChannelStatistics>& of, double epsilon,
                            const std::vector<float>& scale, const std::vector<float>& bias) {
  return make_map(in, in.height, in.width, in.channels, [&](int n, int y, int x, int c) {
    const auto i = static_cast<std::size_t>(c);
    return (in.at(n, y, x, c) - of[i].mean) / std::sqrt(of[i].variance + epsilon) * scale[i] + bias[i];
  });
}

}  // namespace chexbench::engine::cuda
