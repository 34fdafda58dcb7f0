// The one file that includes cudnn-frontend: it takes 20 s and 0.8 GB to compile.
#include "engine/cuda/conv_plans.hpp"

#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {

namespace fe = cudnn_frontend;
namespace graph = cudnn_frontend::graph;

struct PlanTarget::Impl {
  std::shared_ptr<fe::DeviceProperties> properties;
  int sm_version = 0;
};

struct ConvPlans::Impl {
  graph::Graph plans;
};

namespace {

using Tensor = std::shared_ptr<graph::Tensor_attributes>;
using fe::DataType_t;
using fe::PointwiseMode_t;
using spec::Precision;

DataType_t storage(Precision precision) {
  if (precision == Precision::fp16) return DataType_t::HALF;
  return precision == Precision::bf16 ? DataType_t::BFLOAT16 : DataType_t::FLOAT;
}

// Adds the tensors and operations of one request to a graph.
class Description {
 public:
  Description(const PlanRequest& request, graph::Graph& operations)
      : shape_(request.shape), type_(storage(request.precision)), operations_(operations) {}

  void add(ConvPattern pattern) {
    switch (pattern) {
      case ConvPattern::forward:
        return finish_forward(input(), false);
      case ConvPattern::forward_statistics:
        return finish_forward(input(), true);
      case ConvPattern::normalized_forward:
        return finish_forward(normalized(input()), false);
      case ConvPattern::normalized_forward_statistics:
        return finish_forward(normalized(input()), true);
      case ConvPattern::data_gradient:
        data_gradient()->set_output(true).set_stride(input_strides());
        return;
      case ConvPattern::data_gradient_norm:
        return data_gradient_norm();
      case ConvPattern::weight_gradient:
        return weight_gradient(input());
      case ConvPattern::normalized_weight_gradient:
        return weight_gradient(normalized(input()));
    }
  }

 private:
  using Extents = std::vector<std::int64_t>;

  static Extents nhwc(std::int64_t height, std::int64_t width, std::int64_t pixel_stride) {
    return {pixel_stride * width * height, 1, pixel_stride * width, pixel_stride};
  }
  Extents input_strides() const { return nhwc(shape_.height, shape_.width, shape_.in_pixel_stride); }
  Extents input_extents() const { return {shape_.images, shape_.in_channels, shape_.height, shape_.width}; }
  Extents output_extents() const {
    return {shape_.images, shape_.out_channels, shape_.out_height(), shape_.out_width()};
  }
  Extents output_strides() const { return nhwc(shape_.out_height(), shape_.out_width(), shape_.out_pixel_stride); }
  Extents weight_extents() const { return {shape_.out_channels, shape_.in_channels, shape_.kernel, shape_.kernel}; }

  Tensor tensor(const char* name, const Extents& extents, const Extents& strides) {
    return operations_.tensor(
        graph::Tensor_attributes().set_name(name).set_dim(extents).set_stride(strides).set_data_type(type_));
  }
  Tensor input() { return tensor("x", input_extents(), input_strides()); }
  Tensor output_gradient() { return tensor("dy", output_extents(), output_strides()); }
  Tensor weights() { return tensor("w", weight_extents(), nhwc(shape_.kernel, shape_.kernel, shape_.in_channels)); }
  // One value for each input channel.
  Tensor channel_values(const char* name, DataType_t type) {
    const std::int64_t channels = shape_.in_channels;
    return operations_.tensor(graph::Tensor_attributes()
                                  .set_name(name)
                                  .set_dim({1, channels, 1, 1})
                                  .set_stride({channels, 1, channels, channels})
                                  .set_data_type(type));
  }

  Tensor pointwise(PointwiseMode_t mode, const Tensor& a, const Tensor& b) {
    return operations_.pointwise(a, b, graph::Pointwise_attributes().set_mode(mode));
  }

  // Scale and bias are of the storage type: cuDNN takes no others in front of a convolution.
  Tensor normalized(const Tensor& x) {
    const Tensor scaled = pointwise(PointwiseMode_t::MUL, x, channel_values("scale", type_));
    const Tensor shifted = pointwise(PointwiseMode_t::ADD, scaled, channel_values("bias", type_));
    const Tensor active =
        operations_.pointwise(shifted, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
    for (const Tensor& value : {scaled, shifted, active}) value->set_data_type(type_);
    return active;
  }

  template <typename Attributes>
  Attributes window() const {
    const std::int64_t padding = shape_.padding, stride = shape_.stride;
    Attributes attributes;
    attributes.set_padding({padding, padding}).set_stride({stride, stride}).set_dilation({1, 1});
    return attributes;
  }

  void finish_forward(const Tensor& x, bool statistics) {
    const Tensor y = operations_.conv_fprop(x, weights(), window<graph::Conv_fprop_attributes>());
    y->set_output(true).set_data_type(type_).set_dim(output_extents()).set_stride(output_strides());
    if (!statistics) return;
    for (const Tensor& sum : operations_.genstats(y, graph::Genstats_attributes())) {
      sum->set_output(true).set_data_type(DataType_t::FLOAT);
    }
  }

  Tensor data_gradient() {
    const Tensor dx = operations_.conv_dgrad(output_gradient(), weights(), window<graph::Conv_dgrad_attributes>());
    dx->set_dim(input_extents());
    return dx;
  }

  // The relu's input is worked out again from x. The batch norm's backward is dx = a dy + b x + c, whose sums this
  // gives.
  void data_gradient_norm() {
    const Tensor dx = data_gradient(), x = input();
    const Tensor mean = channel_values("mean", DataType_t::FLOAT);
    const Tensor inverse_deviation = channel_values("inverse_deviation", DataType_t::FLOAT);
    const Tensor scale = channel_values("scale", DataType_t::FLOAT);
    const Tensor centred = pointwise(PointwiseMode_t::SUB, x, mean);
    const Tensor unit = pointwise(PointwiseMode_t::MUL, centred, inverse_deviation);
    const Tensor scaled = pointwise(PointwiseMode_t::MUL, unit, scale);
    const Tensor active = pointwise(PointwiseMode_t::ADD, scaled, channel_values("bias", DataType_t::FLOAT));
    const Tensor through = pointwise(PointwiseMode_t::RELU_BWD, dx, active);
    through->set_output(true).set_data_type(type_);
    for (const Tensor& sum :
         operations_.dbn_weight(through, x, mean, inverse_deviation, scale, graph::DBN_weight_attributes())) {
      sum->set_output(true).set_data_type(DataType_t::FLOAT);
    }
  }

  void weight_gradient(const Tensor& x) {
    operations_.conv_wgrad(output_gradient(), x, window<graph::Conv_wgrad_attributes>())
        ->set_output(true)
        .set_dim(weight_extents());
  }

  const ConvShape& shape_;
  const DataType_t type_;
  graph::Graph& operations_;
};

// Strict f32 may not use tensor cores, which round to 10 bits of mantissa; tf32 is that.
void deselect(const PlanRequest& request, graph::Graph& plans) {
  std::vector<fe::NumericalNote_t> notes;
  if (request.precision == Precision::f32) notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
  if (request.deterministic) notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
  plans.deselect_numeric_notes(notes).deselect_workspace_greater_than(request.workspace_limit_bytes);
}

std::string text(const PlanRequest& request) {
  return fmt::format("{} of {} in {}", to_string(request.pattern), request.shape.text(),
                     spec::to_string(request.precision));
}

// cudnn-frontend asks the current device where it is not told, although the description holds it: "deviceVer": 900.
int sm_version(const std::string& description) {
  constexpr std::string_view kKey = "\"deviceVer\":";
  const std::size_t at = description.find(kKey);
  const int version = at == std::string::npos ? 0 : std::atoi(description.c_str() + at + kKey.size()) / 10;
  if (version <= 0) throw DeviceError("cuDNN: the device description has no \"deviceVer\"");
  return version;
}

void check(fe::error_t error, const PlanRequest& request, std::string_view what) {
  if (error.is_bad())
    throw DeviceError(fmt::format("cuDNN: no plan for {}: {}: {}", text(request), what, error.get_message()));
}

}  // namespace

PlanTarget PlanTarget::from_description(const std::string& json) {
  auto impl = std::make_shared<Impl>();
  impl->sm_version = sm_version(json);
  impl->properties = std::make_shared<fe::DeviceProperties>();
  auto error = impl->properties->deserialize(std::vector<std::uint8_t>(json.begin(), json.end()));
  if (error.is_bad()) throw DeviceError("cuDNN refuses the device description: " + error.get_message());
  PlanTarget target;
  target.impl_ = std::move(impl);
  return target;
}

ConvPlans::ConvPlans(const PlanTarget& target, const PlanRequest& request) : impl_(std::make_unique<Impl>()) {
  graph::Graph& plans = impl_->plans;
  plans.set_sm_version(target.impl().sm_version)
      .set_device_properties(target.impl().properties)
      .set_io_data_type(storage(request.precision))
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  Description(request, plans).add(request.pattern);
  check(plans.validate(), request, "the description is refused");
  check(plans.build_operation_graph(nullptr), request, "the operation graph is refused");
  check(plans.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}), request, "no engine offered");
  deselect(request, plans);
  check(plans.check_support(), request, "not supported");
}

ConvPlans::~ConvPlans() = default;
ConvPlans::ConvPlans(ConvPlans&&) noexcept = default;

int ConvPlans::candidates() const { return static_cast<int>(impl_->plans.get_execution_plan_count()); }

Plan ConvPlans::build(int index) {
  Plan plan;
  if (auto error = impl_->plans.get_plan_name_at_index(index, plan.engine); error.is_bad()) {
    plan.reason = error.get_message();
    return plan;
  }
  auto error = impl_->plans.build_plan_at_index(index);
  if (error.is_bad()) {
    plan.reason = error.get_message();
    const bool no_driver = plan.reason.find("CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER") != std::string::npos;
    plan.state = no_driver ? PlanState::needs_driver : PlanState::refused;
    return plan;
  }
  plan.state = PlanState::ready;
  plan.workspace_bytes = impl_->plans.get_workspace_size_plan_at_index(index);
  return plan;
}

}  // namespace chexbench::engine::cuda
