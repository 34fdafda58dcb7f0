// The only file that includes cudnn-frontend, which takes 16 s and 0.8 GB to compile at -O1, 62 s and 2 GB at -O2.
// `scripts/setup --cuda` brings its headers.
#include "engine/cuda/convolution/conv_plans.hpp"

#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {

namespace fe = cudnn_frontend;
namespace graph = cudnn_frontend::graph;

struct PlanTarget::Impl {
  Impl() = default;
  ~Impl() {
    if (handle != nullptr) cudnnDestroy(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  cudnnHandle_t handle = nullptr;                    // of the present device; null if the device is described
  std::shared_ptr<fe::DeviceProperties> properties;  // of a described device; null for the present one
  int sm_version = 0;
};

struct ConvPlans::Impl {
  std::shared_ptr<const PlanTarget::Impl> target;
  graph::Graph plans;
  std::vector<Operand> operands;
};

namespace {

using Tensor = std::shared_ptr<graph::Tensor_attributes>;
using fe::DataType_t;
using fe::PointwiseMode_t;
using spec::Precision;

// cuDNN's number for an operand.
std::int64_t id(OperandRole role) { return static_cast<std::int64_t>(role) + 1; }

DataType_t storage(Precision precision) {
  if (precision == Precision::fp16) return DataType_t::HALF;
  return precision == Precision::bf16 ? DataType_t::BFLOAT16 : DataType_t::FLOAT;
}

// Adds the tensors and operations of one request to a graph, and records the graph's inputs and outputs in `operands`.
class Description {
 public:
  Description(const PlanRequest& request, graph::Graph& operations, std::vector<Operand>& operands)
      : shape_(request.shape),
        type_(storage(request.precision)),
        stored_(element_type(request.precision)),
        operations_(operations),
        operands_(operands) {}

  void add(const PatternParts& parts) {
    switch (parts.pass) {
      case ConvPass::forward:
        return forward(input(parts.before), parts.sums);
      case ConvPass::data_gradient:
        return data_gradient(parts.before);
      case ConvPass::weight_gradient:
        return weight_gradient(input(parts.before));
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
  Extents weight_strides() const { return nhwc(shape_.kernel, shape_.kernel, shape_.group_channels()); }
  // cuDNN derives the number of groups from the channels that one output reads.
  Extents weight_extents() const {
    return {shape_.out_channels, shape_.group_channels(), shape_.kernel, shape_.kernel};
  }

  // Gives its id and its shape to a tensor for which the caller provides the memory.
  template <typename Attributes>
  void provide(OperandRole role, Attributes& attributes, DataType_t type, const Extents& extents,
               const Extents& strides) {
    const FloatType element = type == DataType_t::FLOAT ? FloatType::f32 : stored_;
    const auto bytes = [&](std::int64_t elements) { return static_cast<std::size_t>(elements) * bytes_of(element); };
    operands_.push_back({.role = role,
                         .bytes = bytes(extents[0] * strides[0]),
                         .type = element,
                         .row_bytes = bytes(extents[1]),
                         .pitch_bytes = bytes(strides[3])});
    attributes.set_uid(id(role)).set_dim(extents).set_stride(strides).set_data_type(type);
  }
  void output(OperandRole role, const Tensor& value, DataType_t type, const Extents& extents, const Extents& strides) {
    provide(role, *value, type, extents, strides);
    operands_.back().is_result = true;
    value->set_output(true);
  }
  Tensor tensor(OperandRole role, DataType_t type, const Extents& extents, const Extents& strides) {
    graph::Tensor_attributes attributes;
    provide(role, attributes.set_name(to_string(role)), type, extents, strides);
    return operations_.tensor(attributes);
  }
  // A tensor with the shape of the input.
  Tensor map(OperandRole role) { return tensor(role, type_, input_extents(), input_strides()); }
  Tensor output_gradient() { return tensor(OperandRole::dy, type_, output_extents(), output_strides()); }
  Tensor weights() { return tensor(OperandRole::w, type_, weight_extents(), weight_strides()); }
  // Rows with one value for each channel.
  static Extents row_extents(std::int64_t channels) { return {1, channels, 1, 1}; }
  static Extents row_strides(std::int64_t channels) { return {channels, 1, channels, channels}; }
  Tensor input_row(OperandRole role, DataType_t type) {
    return tensor(role, type, row_extents(shape_.in_channels), row_strides(shape_.in_channels));
  }
  void output_row(OperandRole role, const Tensor& value, std::int64_t channels) {
    output(role, value, DataType_t::FLOAT, row_extents(channels), row_strides(channels));
  }

  Tensor pointwise(PointwiseMode_t mode, const Tensor& a, const Tensor& b) {
    return operations_.pointwise(a, b, graph::Pointwise_attributes().set_mode(mode));
  }

  // Scale and bias are of the storage type, because cuDNN accepts no other type before a convolution.
  Tensor affine(const NormRoles& roles) {
    const Tensor scaled = pointwise(PointwiseMode_t::MUL, map(roles.x), input_row(roles.scale, type_));
    const Tensor shifted = pointwise(PointwiseMode_t::ADD, scaled, input_row(roles.bias, type_));
    for (const Tensor& value : {scaled, shifted}) value->set_data_type(type_);
    return shifted;
  }
  Tensor active(const Tensor& value) {
    const Tensor active =
        operations_.pointwise(value, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
    active->set_data_type(type_);
    return active;
  }
  // The convolution's input, as computed from the tensors before it.
  Tensor input(ConvBefore before) {
    if (before == ConvBefore::nothing) return map(OperandRole::x);
    const Tensor norm = affine(kNormRoles);
    if (before == ConvBefore::norm) return active(norm);
    const Tensor residual =
        before == ConvBefore::join_of_norms ? affine(kResidualNormRoles) : map(OperandRole::residual);
    const Tensor sum = pointwise(PointwiseMode_t::ADD, norm, residual);
    sum->set_data_type(type_);
    const Tensor joined = active(sum);
    output(OperandRole::joined, joined, type_, input_extents(), input_strides());
    return joined;
  }

  template <typename Attributes>
  Attributes window() const {
    const std::int64_t padding = shape_.padding, stride = shape_.stride;
    Attributes attributes;
    attributes.set_padding({padding, padding}).set_stride({stride, stride}).set_dilation({1, 1});
    return attributes;
  }

  void forward(const Tensor& x, bool statistics) {
    const Tensor y = operations_.conv_fprop(x, weights(), window<graph::Conv_fprop_attributes>());
    output(OperandRole::y, y, type_, output_extents(), output_strides());
    if (!statistics) return;
    const auto [sum, sum_of_squares] = operations_.genstats(y, graph::Genstats_attributes());
    output_row(OperandRole::sum, sum, shape_.out_channels);
    output_row(OperandRole::sum_of_squares, sum_of_squares, shape_.out_channels);
  }

  Tensor plain_data_gradient() {
    const Tensor dx = operations_.conv_dgrad(output_gradient(), weights(), window<graph::Conv_dgrad_attributes>());
    dx->set_dim(input_extents());
    return dx;
  }

  // A norm whose backward is computed.
  struct Norm {
    Tensor x, mean, inverse_deviation, scale;
    Tensor y;  // computed again from x
  };
  Norm norm(const NormRoles& roles) {
    const Tensor x = map(roles.x);
    const Tensor mean = input_row(roles.mean, DataType_t::FLOAT);
    const Tensor inverse_deviation = input_row(roles.inverse_deviation, DataType_t::FLOAT);
    const Tensor scale = input_row(roles.scale, DataType_t::FLOAT);
    const Tensor centred = pointwise(PointwiseMode_t::SUB, x, mean);
    const Tensor unit = pointwise(PointwiseMode_t::MUL, centred, inverse_deviation);
    const Tensor scaled = pointwise(PointwiseMode_t::MUL, unit, scale);
    return {x, mean, inverse_deviation, scale,
            pointwise(PointwiseMode_t::ADD, scaled, input_row(roles.bias, DataType_t::FLOAT))};
  }

  // The gradient of the norm's input is a dy + b x + c; dbn_weight() gives a, b and c and the gradients of scale and
  // bias.
  void add_sums(const Norm& norm, const NormRoles& roles, const Tensor& dy) {
    const std::array sums = operations_.dbn_weight(dy, norm.x, norm.mean, norm.inverse_deviation, norm.scale,
                                                   graph::DBN_weight_attributes());
    static_assert(std::tuple_size_v<decltype(NormRoles::results)> == std::tuple_size_v<decltype(sums)>);
    for (std::size_t i = 0; i < sums.size(); ++i) output_row(roles.results[i], sums[i], shape_.in_channels);
  }

  Tensor through_relu(const Tensor& gradient, const Tensor& before_relu) {
    const Tensor through = pointwise(PointwiseMode_t::RELU_BWD, gradient, before_relu);
    output(OperandRole::dx, through, type_, input_extents(), input_strides());
    return through;
  }

  void data_gradient(ConvBefore before) {
    if (before == ConvBefore::nothing)
      return output(OperandRole::dx, plain_data_gradient(), type_, input_extents(), input_strides());
    if (before == ConvBefore::norm) {
      const Tensor dx = plain_data_gradient();
      const Norm norm_before = norm(kNormRoles);
      return add_sums(norm_before, kNormRoles, through_relu(dx, norm_before.y));
    }
    // cuDNN takes the operands of both additions only in this order.
    const Tensor dx = pointwise(PointwiseMode_t::ADD, plain_data_gradient(), map(OperandRole::other_gradient));
    const Norm norm_before = norm(kNormRoles);
    std::optional<Norm> residual;
    if (before == ConvBefore::join_of_norms) residual = norm(kResidualNormRoles);
    const Tensor addend = residual ? residual->y : map(OperandRole::residual);
    const Tensor through = through_relu(dx, pointwise(PointwiseMode_t::ADD, norm_before.y, addend));
    add_sums(norm_before, kNormRoles, through);
    if (residual) add_sums(*residual, kResidualNormRoles, through);
  }

  void weight_gradient(const Tensor& x) {
    output(OperandRole::dw, operations_.conv_wgrad(output_gradient(), x, window<graph::Conv_wgrad_attributes>()), type_,
           weight_extents(), weight_strides());
  }

  const ConvShape& shape_;
  const DataType_t type_;
  const FloatType stored_;
  graph::Graph& operations_;
  std::vector<Operand>& operands_;
};

// Strict f32 may neither use tensor cores, which round to 10 bits of mantissa (that is tf32), nor convert its inputs to
// a smaller type.
void deselect(const PlanRequest& request, graph::Graph& plans) {
  std::vector<fe::NumericalNote_t> notes;
  if (request.precision == Precision::f32)
    notes = {fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS};
  if (request.deterministic) notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
  plans.deselect_numeric_notes(notes).deselect_workspace_greater_than(request.workspace_limit_bytes);
}

// Reads the SM version from the description ("deviceVer": 900 is SM 90). Without it, cudnn-frontend would ask the
// current device, although the description contains the number.
int sm_version(const std::string& description) {
  constexpr std::string_view kKey = "\"deviceVer\":";
  const std::size_t at = description.find(kKey);
  const int version = at == std::string::npos ? 0 : std::atoi(description.c_str() + at + kKey.size()) / 10;
  if (version <= 0) throw DeviceError("cuDNN: the device description has no \"deviceVer\"");
  return version;
}

void check(fe::error_t error, const PlanRequest& request, std::string_view what) {
  if (error.is_bad())
    throw DeviceError(fmt::format("cuDNN: no plan for {}: {}: {}", request.text(), what, error.get_message()));
}

}  // namespace

std::int64_t cudnn_version() { return static_cast<std::int64_t>(cudnnGetVersion()); }

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

PlanTarget PlanTarget::present_device() {
  auto impl = std::make_shared<Impl>();
  if (const cudnnStatus_t status = cudnnCreate(&impl->handle); status != CUDNN_STATUS_SUCCESS)
    throw DeviceError(fmt::format("cuDNN does not start on this GPU: {}", cudnnGetErrorString(status)));
  PlanTarget target;
  target.impl_ = std::move(impl);
  return target;
}

ConvPlans::ConvPlans(const PlanTarget& target, const PlanRequest& request) : impl_(std::make_unique<Impl>()) {
  impl_->target = target.impl();
  graph::Graph& plans = impl_->plans;
  if (impl_->target->properties) {
    plans.set_sm_version(impl_->target->sm_version).set_device_properties(impl_->target->properties);
  }
  plans.set_io_data_type(storage(request.precision))
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  Description(request, plans, impl_->operands).add(parts_of(request.pattern));
  check(plans.validate(), request, "the description is refused");
  check(plans.build_operation_graph(impl_->target->handle), request, "the operation graph is refused");
  check(plans.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}), request, "no engine offered");
  deselect(request, plans);
  check(plans.check_support(), request, "not supported");
}

ConvPlans::~ConvPlans() = default;
ConvPlans::ConvPlans(ConvPlans&&) noexcept = default;
ConvPlans& ConvPlans::operator=(ConvPlans&&) noexcept = default;

int ConvPlans::candidates() const { return static_cast<int>(impl_->plans.get_execution_plan_count()); }

std::string ConvPlans::engine(int index) const {
  std::string name;
  return impl_->plans.get_plan_name_at_index(index, name).is_good() ? name : "";
}

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
  std::vector<fe::BehaviorNote_t> notes;
  const bool is_told = impl_->plans.get_behavior_notes_for_plan_at_index(index, notes).is_good();
  plan.compiled = !is_told || std::ranges::count(notes, fe::BehaviorNote_t::RUNTIME_COMPILATION) > 0;
  plan.workspace_bytes = impl_->plans.get_workspace_size_plan_at_index(index);
  return plan;
}

const std::vector<Operand>& ConvPlans::operands() const { return impl_->operands; }

void ConvPlans::run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) {
  std::unordered_map<std::int64_t, void*> pointers;
  for (const OperandMemory& operand : memory) pointers[id(operand.role)] = operand.data;
  if (const cudnnStatus_t status = cudnnSetStream(impl_->target->handle, stream); status != CUDNN_STATUS_SUCCESS)
    throw DeviceError(fmt::format("cuDNN: it rejects the stream: {}", cudnnGetErrorString(status)));
  auto error = impl_->plans.execute_plan_at_index(impl_->target->handle, pointers, workspace, index);
  if (error.is_bad()) throw DeviceError("cuDNN: a convolution did not start: " + error.get_message());
}

}  // namespace chexbench::engine::cuda
