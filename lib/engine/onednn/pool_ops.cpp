#include "engine/onednn/pool_ops.hpp"

#include <cstdint>
#include <vector>

#include "core/half.hpp"
#include "engine/onednn/parallel.hpp"
namespace chexbench::engine::onednn {
namespace {

float to_float(float value) { return value; }

void store(float value, float& to) { to = value; }
void store(float value, BFloat16& to) { to = to_bfloat16(value); }

struct Span {
  int first, last;
  int count() const { return last - first; }
};

// Returns the input positions that window `out` of `outputs` windows covers.
Span window(int out, int outputs, int inputs) {
  return {out * inputs / outputs, ((out + 1) * inputs + outputs - 1) / outputs};
}

// Calls body(plane, to, rows, columns) for all windows of one image. `plane` is the index of the channel's first
// element within the image's part of x, and `to` is the index of the window's result within the image's part of y.
template <typename Body>
void for_windows(const Tensor& x, FlattenOp::Size size, const Body& body) {
  const View view = x.view();
  std::int64_t to = 0;
  for (int channel = 0; channel < x.shape.channels; ++channel) {
    const std::int64_t plane = channel / x.block * view.block_stride + channel % x.block;
    for (int row = 0; row < size.height; ++row) {
      for (int column = 0; column < size.width; ++column) {
        body(plane, to++, window(row, size.height, x.shape.height), window(column, size.width, x.shape.width));
      }
    }
  }
}

// The number of elements of one image, padding included.
std::int64_t image_elements(const Tensor& x) { return x.view().image_stride; }

}  // namespace

PoolOp::PoolOp(const Device& device, const model::Layer& layer, Tensor& x, Tensor& y)
    : device_(device),
      max_(layer.kind == model::LayerKind::max_pool),
      shape_{x.shape.height, x.shape.width, y.shape.height, y.shape.width, layer.kernel, layer.stride, layer.padding},
      x_(x),
      y_(y) {}

void PoolOp::plan_forward(Planner& planner) {
  if (max_)
    winner_ = &planner.bytes(static_cast<std::size_t>(y_.shape.images * y_.blocks() * y_.block) *
                             static_cast<std::size_t>(y_.shape.pixels()));
  planner.use(x_);
  planner.use(y_);
  if (max_) planner.use(*winner_);
}

void PoolOp::plan_backward(Planner& planner, ParameterStore&) {
  gradients_ = planner.use_gradients(y_);
  if (max_) planner.use(*winner_);
  x_gradient_ = &planner.new_gradient(x_);
}

View PoolOp::winner_view() const {
  View view = y_.view();
  view.data = winner_->data;
  return view;
}

void PoolOp::forward() {
  const View x = x_.view(), y = y_.view();
  for_all_blocks(x_.division(), [&](Work work) {
    if (max_) {
      device_.kernels->max_pool(x, y, winner_view(), shape_, work);
    } else {
      device_.kernels->average_pool(x, y, shape_, work);
    }
  });
}

void PoolOp::backward() {
  sum_gradients(device_, gradients_, 1);
  const View dy = gradients_[0]->view(), dx = x_gradient_->view();
  for_all_blocks(x_.division(), [&](Work work) {
    if (max_) {
      device_.kernels->max_pool_backward(dy, winner_view(), dx, shape_, work);
    } else {
      device_.kernels->average_pool_backward(dy, dx, shape_, work);
    }
  });
}

void GlobalAverageOp::plan_forward(Planner& planner) {
  planner.use(x_);
  planner.use(y_);
}

void GlobalAverageOp::plan_backward(Planner& planner, ParameterStore&) {
  y_gradient_ = planner.use_gradients(y_).at(0);
  x_gradient_ = &planner.new_gradient(x_);
}

void GlobalAverageOp::forward() {
  const View x = x_.view();
  for_all_blocks(x_.division(), [&](Work work) {
    device_.kernels->global_average(x, x_.shape.pixels(), work, reinterpret_cast<float*>(y_.data), y_.shape.channels);
  });
}

void GlobalAverageOp::backward() {
  const View dx = x_gradient_->view();
  const auto* const gradient = reinterpret_cast<const float*>(y_gradient_->data);
  for_all_blocks(x_.division(), [&](Work work) {
    device_.kernels->global_average_backward(gradient, y_.shape.channels, dx, x_.shape.pixels(), work);
  });
}

void FlattenOp::plan_forward(Planner& planner) {
  planner.use(x_);
  planner.use(y_);
}

void FlattenOp::plan_backward(Planner& planner, ParameterStore&) {
  y_gradient_ = planner.use_gradients(y_).at(0);
  x_gradient_ = &planner.new_gradient(x_);
}

template <typename T>
void FlattenOp::average() {
  const std::int64_t stride = x_.view().pixel_stride;
  parallel_for(x_.shape.images, [&](int image) {
    const T* const in = reinterpret_cast<const T*>(x_.data) + image * image_elements(x_);
    float* const out = reinterpret_cast<float*>(y_.data) + std::int64_t{image} * y_.shape.channels;
    for_windows(x_, size_, [&](std::int64_t plane, std::int64_t to, Span rows, Span columns) {
      float sum = 0;
      for (int row = rows.first; row < rows.last; ++row) {
        for (int column = columns.first; column < columns.last; ++column) {
          sum += to_float(in[plane + (std::int64_t{row} * x_.shape.width + column) * stride]);
        }
      }
      out[to] = sum / static_cast<float>(rows.count() * columns.count());
    });
  });
}

// Windows overlap if the number of outputs does not divide the number of inputs, so the gradient is added up in f32 and
// rounded once.
template <typename T>
void FlattenOp::spread() {
  const std::int64_t stride = x_.view().pixel_stride;
  parallel_for(x_.shape.images, [&](int image) {
    std::vector<float> sums(static_cast<std::size_t>(image_elements(x_)));
    const float* const gradient =
        reinterpret_cast<const float*>(y_gradient_->data) + std::int64_t{image} * y_.shape.channels;
    for_windows(x_, size_, [&](std::int64_t plane, std::int64_t from, Span rows, Span columns) {
      const float share = gradient[from] / static_cast<float>(rows.count() * columns.count());
      for (int row = rows.first; row < rows.last; ++row) {
        for (int column = columns.first; column < columns.last; ++column) {
          sums[static_cast<std::size_t>(plane + (std::int64_t{row} * x_.shape.width + column) * stride)] += share;
        }
      }
    });
    T* const out = reinterpret_cast<T*>(x_gradient_->data) + image * image_elements(x_);
    for (std::size_t i = 0; i < sums.size(); ++i) store(sums[i], out[i]);
  });
}

void FlattenOp::forward() { x_.type == FloatType::bf16 ? average<BFloat16>() : average<float>(); }

void FlattenOp::backward() { x_.type == FloatType::bf16 ? spread<BFloat16>() : spread<float>(); }

}  // namespace chexbench::engine::onednn
