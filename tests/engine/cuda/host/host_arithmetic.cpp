#include "engine/cuda/host/host_arithmetic.hpp"

#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

// A matrix of the element type that a precision computes in.
struct Array {
  Precision precision;
  void* data;
  int rows = 0, columns = 0, stride = 0;
};

// Calls use() with a pointer to the elements, of their type.
template <typename Use>
void with_elements(const Array& array, const Use& use) {
  if (array.precision == Precision::fp16) return use(static_cast<kernels::Half*>(array.data));
  if (array.precision == Precision::bf16) return use(static_cast<kernels::BFloat16*>(array.data));
  use(static_cast<float*>(array.data));
}

// Copies the rows to packed floats; scatter() copies them back.
std::vector<float> gather(const Array& from) {
  std::vector<float> packed(static_cast<std::size_t>(from.rows) * static_cast<std::size_t>(from.columns));
  with_elements(from, [&]<typename T>(const T* elements) {
    float* to = packed.data();
    for (int row = 0; row < from.rows; ++row, elements += from.stride) {
      for (int i = 0; i < from.columns; ++i) *to++ = kernels::Element<T>::widen(elements[i]);
    }
  });
  return packed;
}

void scatter(const std::vector<float>& packed, const Array& to) {
  with_elements(to, [&]<typename T>(T* elements) {
    const float* from = packed.data();
    for (int row = 0; row < to.rows; ++row, elements += to.stride) {
      for (int i = 0; i < to.columns; ++i) elements[i] = kernels::Element<T>::narrow(*from++);
    }
  });
}

struct Sizes {
  const ConvShape& s;
  int in_pixels() const { return s.images * s.height * s.width; }
  int out_pixels() const { return s.images * s.out_height() * s.out_width(); }
  std::size_t weights() const {
    return static_cast<std::size_t>(s.out_channels) * s.kernel * s.kernel * s.group_channels();
  }
};

// Calls use(input pixel, output pixel, place in the window) for each pair that a window connects.
template <typename Use>
void each_pair(const ConvShape& s, const Use& use) {
  for (int n = 0; n < s.images; ++n)
    for (int y = 0; y < s.out_height(); ++y)
      for (int x = 0; x < s.out_width(); ++x)
        for (int k = 0; k < s.kernel * s.kernel; ++k) {
          const int h = y * s.stride - s.padding + k / s.kernel, w = x * s.stride - s.padding + k % s.kernel;
          if (h < 0 || w < 0 || h >= s.height || w >= s.width) continue;
          use((n * s.height + h) * s.width + w, (n * s.out_height() + y) * s.out_width() + x, k);
        }
}

// to[0..n) += factors[0] * from[0..n), and so on for `count` factors in their order, each with the row of `from` that
// is `stride` floats after the one before. Four at a time, because loading and storing `to` takes longer than the sums.
void accumulate(float* __restrict to, const float* __restrict factors, int count, const float* __restrict from,
                std::size_t stride, int n) {
  int f = 0;
  for (; f + 4 <= count; f += 4, from += 4 * stride) {
    const float *a = from, *b = a + stride, *c = b + stride, *d = c + stride;
    for (int i = 0; i < n; ++i)
      to[i] = to[i] + factors[f] * a[i] + factors[f + 1] * b[i] + factors[f + 2] * c[i] + factors[f + 3] * d[i];
  }
  for (; f < count; ++f, from += stride)
    for (int i = 0; i < n; ++i) to[i] += factors[f] * from[i];
}

// Returns the columns of a matrix of that many one after another. Some rows at a time, because a cache line that is
// read for one column serves the next ones.
std::vector<float> transposed(const std::vector<float>& rows, int columns) {
  constexpr std::size_t kRows = 16;
  const std::size_t width = static_cast<std::size_t>(columns), height = rows.size() / width;
  std::vector<float> turned(rows.size());
  for (std::size_t first = 0; first < height; first += kRows)
    for (std::size_t column = 0; column < width; ++column)
      for (std::size_t row = first; row < std::min(first + kRows, height); ++row)
        turned[column * height + row] = rows[row * width + column];
  return turned;
}

std::vector<float> convolve(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& weight) {
  // [out][window][in of a group] -> [window][in of a group][out]
  const std::vector<float> turned = transposed(weight, s.kernel * s.kernel * s.group_channels());
  std::vector<float> y(static_cast<std::size_t>(Sizes{s}.out_pixels()) * s.out_channels);
  const int ins = s.group_channels(), outs = s.group_outputs();
  each_pair(s, [&](int from, int to, int k) {
    for (int group = 0; group < s.groups; ++group)
      accumulate(&y[static_cast<std::size_t>(to) * s.out_channels + group * outs],
                 &x[static_cast<std::size_t>(from) * s.in_channels + group * ins], ins,
                 &turned[static_cast<std::size_t>(k) * ins * s.out_channels + group * outs],
                 static_cast<std::size_t>(s.out_channels), outs);
  });
  return y;
}

std::vector<float> data_gradient(const ConvShape& s, const std::vector<float>& dy, const std::vector<float>& weight) {
  std::vector<float> dx(static_cast<std::size_t>(Sizes{s}.in_pixels()) * s.in_channels);
  const int ins = s.group_channels(), outs = s.group_outputs();
  const int window = s.kernel * s.kernel;
  each_pair(s, [&](int to, int from, int k) {
    for (int group = 0; group < s.groups; ++group)
      accumulate(&dx[static_cast<std::size_t>(to) * s.in_channels + group * ins],
                 &dy[static_cast<std::size_t>(from) * s.out_channels + group * outs], outs,
                 &weight[(static_cast<std::size_t>(group) * outs * window + k) * ins],
                 static_cast<std::size_t>(window) * ins, ins);
  });
  return dx;
}

// The outputs of a row whose window has `k` within the input, and the first of the inputs there.
struct Run {
  int in = 0, out = 0, count = 0;
};
Run run_of(const ConvShape& s, int n, int y, int k) {
  const int h = y * s.stride - s.padding + k / s.kernel, shift = k % s.kernel - s.padding;
  if (h < 0 || h >= s.height) return {};
  const int first = shift < 0 ? (-shift + s.stride - 1) / s.stride : 0;
  const int last = std::min(s.out_width() - 1, (s.width - 1 - shift) / s.stride);
  if (s.width - 1 < shift || last < first) return {};
  return {(n * s.height + h) * s.width + first * s.stride + shift, (n * s.out_height() + y) * s.out_width() + first,
          last - first + 1};
}

std::vector<float> weight_gradient(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& dy) {
  const std::vector<float> turned = transposed(dy, s.out_channels);
  std::vector<float> dw(Sizes{s}.weights());
  const int ins = s.group_channels(), outs = s.group_outputs(), window = s.kernel * s.kernel;
  for (int row = 0; row < s.images * s.out_height(); ++row)
    for (int k = 0; k < window; ++k) {
      const Run run = run_of(s, row / s.out_height(), row % s.out_height(), k);
      if (run.count == 0) continue;
      for (int o = 0; o < s.out_channels; ++o)
        accumulate(&dw[(static_cast<std::size_t>(o) * window + k) * ins],
                   &turned[static_cast<std::size_t>(o) * Sizes{s}.out_pixels() + run.out], run.count,
                   &x[static_cast<std::size_t>(run.in) * s.in_channels + o / outs * ins],
                   static_cast<std::size_t>(s.stride) * s.in_channels, ins);
    }
  return dw;
}

class HostRun {
 public:
  HostRun(const PlanRequest& request, const std::vector<OperandMemory>& memory)
      : s_(request.shape), request_(request), memory_(memory) {}

  void run() const {
    switch (request_.pattern) {
      case ConvPattern::forward:
      case ConvPattern::forward_statistics:
      case ConvPattern::normalized_forward_statistics:
      case ConvPattern::joined_forward_statistics:
      case ConvPattern::joined_norms_forward_statistics:
        return forward();
      case ConvPattern::data_gradient:
        return scatter(data_gradient(s_, gather(output(OperandRole::dy)), gather(weight(OperandRole::w))),
                       input(OperandRole::dx));
      case ConvPattern::data_gradient_norm:
      case ConvPattern::data_gradient_join:
      case ConvPattern::data_gradient_join_norms:
        return data_gradient_norm();
      case ConvPattern::weight_gradient:
      case ConvPattern::normalized_weight_gradient:
        return scatter(weight_gradient(s_, convolved(), gather(output(OperandRole::dy))), weight(OperandRole::dw));
      default:
        throw DeviceError("host twin: it has no " + to_string(request_.pattern));
    }
  }

 private:
  void* data(OperandRole role) const { return std::ranges::find(memory_, role, &OperandMemory::role)->data; }
  Array weight(OperandRole role) const {
    return {request_.precision, data(role), 1, static_cast<int>(Sizes{s_}.weights()), 0};
  }
  Array input(OperandRole role) const {
    return {request_.precision, data(role), Sizes{s_}.in_pixels(), s_.in_channels, s_.in_pixel_stride};
  }
  Array output(OperandRole role) const {
    return {request_.precision, data(role), Sizes{s_}.out_pixels(), s_.out_channels, s_.out_pixel_stride};
  }

  // Returns a norm's scale x + bias.
  std::vector<float> affine(const NormRoles& roles) const {
    std::vector<float> x = gather(input(roles.x));
    const std::vector<float> scale = gather({request_.precision, data(roles.scale), 1, s_.in_channels, 0});
    const std::vector<float> bias = gather({request_.precision, data(roles.bias), 1, s_.in_channels, 0});
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] * scale[i % scale.size()] + bias[i % scale.size()];
    return x;
  }

  // Returns the convolution's input: x, or the result of a norm or join before it, rounded like cuDNN's.
  std::vector<float> convolved() const {
    const bool joins = is_join(request_.pattern);
    if (!joins && request_.pattern != ConvPattern::normalized_forward_statistics &&
        request_.pattern != ConvPattern::normalized_weight_gradient)
      return gather(input(OperandRole::x));
    std::vector<float> x = affine(kNormRoles);
    if (joins)
      add(is_join_of_norms(request_.pattern) ? affine(kResidualNormRoles) : gather(input(OperandRole::residual)), x);
    for (float& value : x) value = kernels::to_float(kernels::to_half(std::max(0.0f, value)));
    if (joins) scatter(x, input(OperandRole::joined));
    return x;
  }
  void forward() const {
    const std::vector<float> y = convolve(s_, convolved(), gather(weight(OperandRole::w)));
    scatter(y, output(OperandRole::y));
    if (request_.pattern == ConvPattern::forward) return;
    auto* const sum = static_cast<float*>(data(OperandRole::sum));
    auto* const sum_of_squares = static_cast<float*>(data(OperandRole::sum_of_squares));
    std::fill_n(sum, s_.out_channels, 0.0f);
    std::fill_n(sum_of_squares, s_.out_channels, 0.0f);
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum[i % s_.out_channels] += y[i];
      sum_of_squares[i % s_.out_channels] += y[i] * y[i];
    }
  }

  float* row(OperandRole role) const { return static_cast<float*>(data(role)); }

  // A norm whose backward is computed: its input, as (x - mean) / deviation, and its result.
  struct Norm {
    std::vector<float> unit, y;
  };
  Norm norm(const NormRoles& roles) const {
    Norm norm{gather(input(roles.x)), {}};
    const float *mean = row(roles.mean), *inverse = row(roles.inverse_deviation);
    const float *scale = row(roles.scale), *bias = row(roles.bias);
    for (std::size_t i = 0; i < norm.unit.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(s_.in_channels);
      norm.unit[i] = (norm.unit[i] - mean[c]) * inverse[c];
      norm.y.push_back(norm.unit[i] * scale[c] + bias[c]);
    }
    return norm;
  }

  // The norm's sums of gradients g that are not rounded yet.
  void write_sums(const NormRoles& roles, const Norm& norm, const std::vector<float>& g) const {
    const auto channels = static_cast<std::size_t>(s_.in_channels);
    std::vector<double> sum(channels), sum_with_unit(channels);
    for (std::size_t i = 0; i < g.size(); ++i) {
      sum[i % channels] += g[i];
      sum_with_unit[i % channels] += static_cast<double>(g[i]) * norm.unit[i];
    }
    const float *mean = row(roles.mean), *inverse = row(roles.inverse_deviation), *scale = row(roles.scale);
    for (std::size_t c = 0; c < channels; ++c) {
      const double per_g = static_cast<double>(scale[c]) * inverse[c], count = Sizes{s_}.in_pixels();
      const double per_x = -per_g * inverse[c] * sum_with_unit[c] / count;
      const double results[]{sum_with_unit[c], sum[c], per_g, per_x, -per_g * sum[c] / count - per_x * mean[c]};
      for (std::size_t i = 0; i < roles.results.size(); ++i) row(roles.results[i])[c] = static_cast<float>(results[i]);
    }
  }

  static void add(const std::vector<float>& from, std::vector<float>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }

  // Backward through the ReLU of the preceding norm or residual join.
  void data_gradient_norm() const {
    std::vector<float> g = data_gradient(s_, gather(output(OperandRole::dy)), gather(weight(OperandRole::w)));
    Norm before = norm(kNormRoles), residual;
    if (is_join(request_.pattern)) add(gather(input(OperandRole::other_gradient)), g);
    if (request_.pattern == ConvPattern::data_gradient_join) residual.y = gather(input(OperandRole::residual));
    if (request_.pattern == ConvPattern::data_gradient_join_norms) residual = norm(kResidualNormRoles);
    if (is_join(request_.pattern)) add(residual.y, before.y);
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (before.y[i] <= 0) g[i] = 0;
    }
    scatter(g, input(OperandRole::dx));
    write_sums(kNormRoles, before, g);
    if (!residual.unit.empty()) write_sums(kResidualNormRoles, residual, g);
  }

  const ConvShape& s_;
  const PlanRequest& request_;
  const std::vector<OperandMemory>& memory_;
};

}  // namespace

void host::run(const PlanRequest& request, const std::vector<OperandMemory>& memory) { HostRun(request, memory).run(); }

}  // namespace chexbench::engine::cuda
