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

// to[0..n) += factor * from[0..n)
void accumulate(float* to, float factor, const float* from, int n) {
  for (int i = 0; i < n; ++i) to[i] += factor * from[i];
}

// [out][window][in of a group] -> [window][in of a group][out]
std::vector<float> outputs_innermost(const ConvShape& s, const std::vector<float>& weight) {
  const int inner = s.kernel * s.kernel * s.group_channels();
  std::vector<float> turned(weight.size());
  for (int o = 0; o < s.out_channels; ++o)
    for (int i = 0; i < inner; ++i)
      turned[static_cast<std::size_t>(i) * s.out_channels + o] = weight[static_cast<std::size_t>(o) * inner + i];
  return turned;
}

std::vector<float> convolve(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& weight) {
  const std::vector<float> turned = outputs_innermost(s, weight);
  std::vector<float> y(static_cast<std::size_t>(Sizes{s}.out_pixels()) * s.out_channels);
  const int ins = s.group_channels(), outs = s.group_outputs();
  each_pair(s, [&](int from, int to, int k) {
    for (int c = 0; c < s.in_channels; ++c) {
      const int first = c / ins * outs;
      accumulate(&y[static_cast<std::size_t>(to) * s.out_channels + first],
                 x[static_cast<std::size_t>(from) * s.in_channels + c],
                 &turned[(static_cast<std::size_t>(k) * ins + c % ins) * s.out_channels + first], outs);
    }
  });
  return y;
}

std::vector<float> data_gradient(const ConvShape& s, const std::vector<float>& dy, const std::vector<float>& weight) {
  std::vector<float> dx(static_cast<std::size_t>(Sizes{s}.in_pixels()) * s.in_channels);
  const int ins = s.group_channels(), outs = s.group_outputs();
  each_pair(s, [&](int to, int from, int k) {
    for (int o = 0; o < s.out_channels; ++o)
      accumulate(&dx[static_cast<std::size_t>(to) * s.in_channels + o / outs * ins],
                 dy[static_cast<std::size_t>(from) * s.out_channels + o],
                 &weight[(static_cast<std::size_t>(o) * s.kernel * s.kernel + k) * ins], ins);
  });
  return dx;
}

std::vector<float> weight_gradient(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& dy) {
  std::vector<float> dw(Sizes{s}.weights());
  const int ins = s.group_channels(), outs = s.group_outputs();
  each_pair(s, [&](int in, int out, int k) {
    for (int o = 0; o < s.out_channels; ++o)
      accumulate(&dw[(static_cast<std::size_t>(o) * s.kernel * s.kernel + k) * ins],
                 dy[static_cast<std::size_t>(out) * s.out_channels + o],
                 &x[static_cast<std::size_t>(in) * s.in_channels + o / outs * ins], ins);
  });
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

  // Returns what the convolution reads: x, or the result of a norm or join before it, rounded as cuDNN does.
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
