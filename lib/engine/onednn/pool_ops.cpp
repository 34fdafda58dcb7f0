#include "engine/onednn/pool_ops.hpp"

#include "engine/onednn/weight_gradient.hpp"

namespace chexbench::engine::onednn {

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
  gradients_ = planner.gradients(y_);
  for (Tensor* gradient : gradients_) planner.use(*gradient);
  if (max_) planner.use(*winner_);
  x_gradient_ = &planner.tensor(x_.shape);
  planner.use(*x_gradient_);
  planner.add_gradient(x_, *x_gradient_);
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
  y_gradient_ = planner.gradients(y_).at(0);
  planner.use(*y_gradient_);
  x_gradient_ = &planner.tensor(x_.shape);
  planner.use(*x_gradient_);
  planner.add_gradient(x_, *x_gradient_);
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

}  // namespace chexbench::engine::onednn
