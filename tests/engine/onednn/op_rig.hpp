// Runs single ops between tensors that a test fills and reads as numbers in NCHW order.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "engine/onednn/op.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::onednn {

using Numbers = std::vector<double>;

// Returns why this CPU cannot compute in `precision`, or an empty string if it can.
inline std::string reason_to_skip(spec::Precision precision) {
  try {
    make_device(precision);
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

// Returns the largest difference, divided by the largest expected magnitude.
inline double distance(const Numbers& actual, const Numbers& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0, scale = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!std::isfinite(actual[i])) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return worst / scale;
}

inline Numbers numbers(const std::vector<float>& values) { return {values.begin(), values.end()}; }

// No tensors share memory, so all of them can be read at any time. Call the functions in the order of their
// declaration.
class OpRig {
 public:
  // `layout` is that of activations.
  explicit OpRig(spec::Precision precision = spec::Precision::f32, Layout layout = Layout::blocked)
      : device_(device_with(precision, layout)) {}

  Tensor& tensor(const TensorShape& shape) { return tensor(shape, device_.layout); }
  Tensor& tensor(const TensorShape& shape, Layout layout) {
    const FloatType type = layout == Layout::flat ? FloatType::f32 : device_.type;
    return *tensors_.emplace_back(&planner_.tensor(shape, layout, type));
  }
  // Adds a tensor to those whose sum is the gradient of `y`.
  Tensor& gradient_of(const Tensor& y) {
    Tensor& added = tensor(y.shape, y.layout);
    planner_.add_gradient(y, added);
    return added;
  }
  template <typename T, typename... Arguments>
  T& add(Arguments&&... arguments) {
    auto op = std::make_unique<T>(device_, std::forward<Arguments>(arguments)...);
    T& added = *op;
    ops_.push_back(std::move(op));
    return added;
  }
  // Adds an op whose constructor takes no device.
  template <typename T, typename... Arguments>
  void add_plain(Arguments&&... arguments) {
    ops_.push_back(std::make_unique<T>(std::forward<Arguments>(arguments)...));
  }
  void place() {
    planner_.use(scratchpad_);
    for (Tensor* tensor : tensors_) planner_.use(*tensor);
    for (const auto& op : ops_) op->plan_forward(planner_);
    for (std::size_t i = ops_.size(); i-- > 0;) ops_[i]->plan_backward(planner_, store_);
    std::size_t scratchpad_bytes = 0;
    for (const auto& op : ops_) scratchpad_bytes = std::max(scratchpad_bytes, op->scratchpad_bytes());
    Planner::resize(scratchpad_, scratchpad_bytes);
    planner_.place();
    // oneDNN requires a block's unused channels to be zero: write() below leaves them as they are.
    for (Tensor* tensor : tensors_) std::memset(tensor->data, 0, tensor->bytes);
    store_.allocate();
    for (const auto& op : ops_) op->bind();
  }

  // Fills a tensor with offset + s(name, i) and returns its contents, which are rounded if they are bf16.
  Numbers fill(Tensor& tensor, const std::string& name, double offset = 0) {
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.images * tensor.shape.channels) *
                              static_cast<std::size_t>(tensor.shape.pixels()));
    model::fill_formula_signed("op", name, values);
    for (float& value : values) value += static_cast<float>(offset);
    write(tensor, values);
    return read(tensor);
  }
  void write(Tensor& tensor, const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = element(tensor, i);
      if (tensor.type == FloatType::f32) {
        reinterpret_cast<float*>(tensor.data)[at] = values[i];
      } else {
        reinterpret_cast<std::uint16_t*>(tensor.data)[at] =
            static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
      }
    }
  }
  Numbers read(const Tensor& tensor) const {
    Numbers values(static_cast<std::size_t>(tensor.shape.images * tensor.shape.channels) *
                   static_cast<std::size_t>(tensor.shape.pixels()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = element(tensor, i);
      values[i] = tensor.type == FloatType::f32
                      ? static_cast<double>(reinterpret_cast<const float*>(tensor.data)[at])
                      : static_cast<double>(std::bit_cast<float>(
                            std::uint32_t{reinterpret_cast<const std::uint16_t*>(tensor.data)[at]} << 16));
    }
    return values;
  }
  // The pass mode of ops that were constructed with it.
  PassMode& mode() { return mode_; }

  // Returns the gradient of `x` that its only reader computed.
  Numbers read_gradient(const Tensor& x) { return read(*planner_.gradients(x).at(0)); }

  // Fills a parameter with offset + s(name, i), in PyTorch's order, and refreshes the ops' weights.
  Numbers load(const std::string& name, double offset = 0) {
    const ParameterSlot& slot = store_.slot(name);
    std::vector<float> values(static_cast<std::size_t>(slot.info.count()));
    model::fill_formula_signed("op", name, values);
    for (float& value : values) value += static_cast<float>(offset);
    store_.load(slot, slot.weights, values);
    for (const auto& op : ops_) op->refresh_weights();
    return numbers(values);
  }
  Numbers read_parameter_gradient(const std::string& name) const {
    const ParameterSlot& slot = store_.slot(name);
    std::vector<float> values(static_cast<std::size_t>(slot.info.count()));
    store_.read(slot, slot.gradient, values);
    return numbers(values);
  }

  void forward() {
    for (const auto& op : ops_) op->forward();
  }
  void backward() {
    for (std::size_t i = ops_.size(); i-- > 0;) ops_[i]->backward();
  }

  Planner& planner() { return planner_; }
  const Tensor& scratchpad() const { return scratchpad_; }

 private:
  // Returns the offset in memory of element i in NCHW order.
  static std::size_t element(const Tensor& tensor, std::size_t i) {
    if (tensor.layout == Layout::nchw) return i;
    const auto pixels = static_cast<std::size_t>(tensor.shape.pixels());
    const auto channels = static_cast<std::size_t>(tensor.shape.channels);
    const auto block = static_cast<std::size_t>(tensor.block), blocks = static_cast<std::size_t>(tensor.blocks());
    const std::size_t pixel = i % pixels, channel = i / pixels % channels, image = i / pixels / channels;
    if (tensor.layout != Layout::blocked) return (image * pixels + pixel) * channels + channel;
    return ((image * blocks + channel / block) * pixels + pixel) * block + channel % block;
  }
  static Device device_with(spec::Precision precision, Layout layout) {
    Device device = make_device(precision);
    device.layout = layout;
    return device;
  }

  const Device device_;
  Planner planner_{device_};
  PassMode mode_;
  ParameterStore store_{device_};
  Tensor& scratchpad_ = planner_.bytes(0);
  std::vector<Tensor*> tensors_;
  std::vector<std::unique_ptr<Op>> ops_;
};

}  // namespace chexbench::engine::onednn
