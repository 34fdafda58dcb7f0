#include "engine/onednn/linear_op.hpp"

#include "engine/onednn/parallel.hpp"
#include "engine/onednn/primitive_descs.hpp"

namespace chexbench::engine::onednn {
namespace {

using dnnl::memory;

memory::desc vector_desc(const Tensor& y) {
  return {{y.shape.channels}, memory::data_type::f32, memory::format_tag::a};
}

memory::desc weight_desc(const Tensor& x, const Tensor& y) {
  return {{y.shape.channels, x.shape.channels}, memory::data_type::f32, memory::format_tag::ab};
}

}  // namespace

LinearOp::LinearOp(const Device& device, const model::Layer& layer, const PassMode& mode, Tensor& x, Tensor& y)
    : device_(device), name_(layer.name), mode_(mode), x_(x), y_(y) {
  forward_desc_ = describe<dnnl::inner_product_forward>(device.engine, {}, dnnl::prop_kind::forward_training, x.desc,
                                                        weight_desc(x, y), vector_desc(y), y.desc);
}

void LinearOp::plan_forward(Planner& planner) {
  planner.use(x_);
  planner.use(y_);
}

void LinearOp::plan_backward(Planner& planner, ParameterStore& store) {
  y_gradient_ = planner.use_gradients(y_).at(0);
  planner.use(x_);
  add_parameters(store);
  x_gradient_ = &planner.tensor(x_.shape, Layout::flat, FloatType::f32);
  planner.use(*x_gradient_);
  planner.add_gradient(x_, *x_gradient_);
}

void LinearOp::add_parameters(ParameterStore& store) {
  weight_ = &store.add({name_ + ".weight", {y_.shape.channels, x_.shape.channels}}, weight_desc(x_, y_));
  bias_ = &store.add_vector({name_ + ".bias", {y_.shape.channels}});
}

void LinearOp::bind() {
  const auto weights = weight_desc(x_, y_);
  forward_ = dnnl::inner_product_forward(forward_desc_);
  forward_arguments_ = {{DNNL_ARG_SRC, wrap(x_.desc, x_.data)},
                        {DNNL_ARG_WEIGHTS, wrap(weights, weight_->weights)},
                        {DNNL_ARG_BIAS, wrap(vector_desc(y_), bias_->weights)},
                        {DNNL_ARG_DST, wrap(y_.desc, y_.data)}};
  {
    const OneThread alone;
    on_one_thread_ = dnnl::inner_product_forward(describe<dnnl::inner_product_forward>(
        device_.engine, {}, dnnl::prop_kind::forward_inference, x_.desc, weights, vector_desc(y_), y_.desc));
  }
  if (y_gradient_ != nullptr) bind_backward();
}

void LinearOp::bind_backward() {
  const auto weights = weight_desc(x_, y_);
  const auto dy = wrap(y_.desc, y_gradient_->data);
  data_ = dnnl::inner_product_backward_data(describe_backward<dnnl::inner_product_backward_data>(
      device_.engine, {}, forward_desc_, false, x_.desc, weights, y_.desc));
  data_arguments_ = {{DNNL_ARG_DIFF_DST, dy},
                     {DNNL_ARG_WEIGHTS, wrap(weights, weight_->weights)},
                     {DNNL_ARG_DIFF_SRC, wrap(x_.desc, x_gradient_->data)}};
  weights_ = dnnl::inner_product_backward_weights(describe_backward<dnnl::inner_product_backward_weights>(
      device_.engine, {}, forward_desc_, false, x_.desc, weights, vector_desc(y_), y_.desc));
  weights_arguments_ = {{DNNL_ARG_SRC, wrap(x_.desc, x_.data)},
                        {DNNL_ARG_DIFF_DST, dy},
                        {DNNL_ARG_DIFF_WEIGHTS, wrap(weights, weight_->gradient)},
                        {DNNL_ARG_DIFF_BIAS, wrap(vector_desc(y_), bias_->gradient)}};
}

// oneDNN divides a sum over inputs among threads if the layer is large, so that their number changes the low bits.
void LinearOp::forward() {
  if (!mode_.any_threads) {
    forward_.execute(device_.stream, forward_arguments_);
    return;
  }
  const OneThread alone;
  on_one_thread_.execute(device_.stream, forward_arguments_);
}

void LinearOp::backward() {
  weights_.execute(device_.stream, weights_arguments_);
  data_.execute(device_.stream, data_arguments_);
}

}  // namespace chexbench::engine::onednn
