// Implements conv_plans.hpp in place of cuDNN: two candidates for each request, which compute with plain sums.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/errors.hpp"
#include "engine/cuda/convolution/conv_plans.hpp"
#include "engine/cuda/host/host_arithmetic.hpp"
#include "engine/cuda/program/precision.hpp"
#include "engine/cuda/strict/strict_cuda.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = 1000;

}  // namespace

struct PlanTarget::Impl {};

struct ConvPlans::Impl {
  PlanRequest request;
  std::vector<Operand> operands;

  // Adds a tensor of so many rows.
  void add(OperandRole role, FloatType type, int rows, int width, int pitch, bool is_result) {
    const std::size_t element_bytes = bytes_of(type);
    operands.push_back({.role = role,
                        .bytes = element_bytes * static_cast<std::size_t>(rows) * static_cast<std::size_t>(pitch),
                        .type = type,
                        .row_bytes = element_bytes * static_cast<std::size_t>(width),
                        .pitch_bytes = element_bytes * static_cast<std::size_t>(pitch),
                        .is_result = is_result});
  }
  void add_input(OperandRole role, bool is_result = false) {
    const ConvShape& s = request.shape;
    add(role, element_type(request.precision), s.images * s.height * s.width, s.in_channels, s.in_pixel_stride,
        is_result);
  }
  void add_output(OperandRole role, bool is_result = false) {
    const ConvShape& s = request.shape;
    add(role, element_type(request.precision), s.images * s.out_height() * s.out_width(), s.out_channels,
        s.out_pixel_stride, is_result);
  }
  void add_weights(OperandRole role, bool is_result = false) {
    const ConvShape& s = request.shape;
    add(role, element_type(request.precision), s.out_channels * s.kernel * s.kernel, s.group_channels(),
        s.group_channels(), is_result);
  }
  void add_row(OperandRole role, FloatType type, int channels, bool is_result = false) {
    add(role, type, 1, channels, channels, is_result);
  }

  void add_operands() {
    switch (request.pattern) {
      case ConvPattern::forward:
        return add_forward();
      case ConvPattern::forward_statistics:
        add_forward();
        return add_statistics();
      case ConvPattern::normalized_forward_statistics:
        add_forward();
        add_prologue();
        return add_statistics();
      case ConvPattern::joined_forward_statistics:
      case ConvPattern::joined_norms_forward_statistics:
        return add_joined_forward();
      case ConvPattern::data_gradient:
        return add_data_gradient();
      case ConvPattern::data_gradient_norm:
        add_data_gradient();
        return add_norm(kNormRoles);
      case ConvPattern::data_gradient_join:
      case ConvPattern::data_gradient_join_norms:
        return add_join();
      case ConvPattern::weight_gradient:
        return add_weight_gradient();
      case ConvPattern::normalized_weight_gradient:
        add_weight_gradient();
        return add_prologue();
      default:
        throw DeviceError("strict stand-in: no plan for " + request.text());
    }
  }
  void add_forward() {
    add_input(OperandRole::x);
    add_weights(OperandRole::w);
    add_output(OperandRole::y, true);
  }
  void add_statistics() {
    for (const OperandRole role : {OperandRole::sum, OperandRole::sum_of_squares})
      add_row(role, FloatType::f32, request.shape.out_channels, true);
  }
  void add_joined_forward() {
    add_forward();
    add_prologue();
    add_input(OperandRole::joined, true);
    add_statistics();
    if (!is_join_of_norms(request.pattern)) return add_input(OperandRole::residual);
    add_input(OperandRole::residual_x);
    add_prologue(kResidualNormRoles);
  }
  void add_prologue(const NormRoles& roles = kNormRoles) {
    for (const OperandRole role : {roles.scale, roles.bias})
      add_row(role, element_type(request.precision), request.shape.in_channels);
  }
  void add_data_gradient() {
    add_output(OperandRole::dy);
    add_weights(OperandRole::w);
    add_input(OperandRole::dx, true);
  }
  void add_norm(const NormRoles& roles) {
    add_input(roles.x);
    for (const OperandRole role : {roles.mean, roles.inverse_deviation, roles.scale, roles.bias})
      add_row(role, FloatType::f32, request.shape.in_channels);
    for (const OperandRole role : roles.results) add_row(role, FloatType::f32, request.shape.in_channels, true);
  }
  void add_join() {
    add_data_gradient();
    add_norm(kNormRoles);
    add_input(OperandRole::other_gradient);
    if (request.pattern == ConvPattern::data_gradient_join) return add_input(OperandRole::residual);
    add_norm(kResidualNormRoles);
  }
  void add_weight_gradient() {
    add_input(OperandRole::x);
    add_output(OperandRole::dy);
    add_weights(OperandRole::dw, true);
  }
};

std::int64_t cudnn_version() { return 91900; }

PlanTarget PlanTarget::present_device() { return {}; }

ConvPlans::ConvPlans(const PlanTarget&, const PlanRequest& request)
    : impl_(std::make_unique<Impl>(Impl{.request = request, .operands = {}})) {
  impl_->add_operands();
}
ConvPlans::~ConvPlans() = default;
ConvPlans::ConvPlans(ConvPlans&&) noexcept = default;
ConvPlans& ConvPlans::operator=(ConvPlans&&) noexcept = default;

int ConvPlans::candidates() const { return 2; }
std::string ConvPlans::engine(int index) const { return fmt::format("plain sums {}", index); }
Plan ConvPlans::build(int index) {
  return {.state = PlanState::ready, .engine = engine(index), .workspace_bytes = kWorkspaceBytes};
}
const std::vector<Operand>& ConvPlans::operands() const { return impl_->operands; }

// Two pieces of work, between which other streams may run: the first leaves a mark in the workspace that the second
// must find.
void ConvPlans::run(int, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) {
  if (workspace == nullptr) throw DeviceError("strict stand-in: a plan got no workspace");
  static int runs = 0;
  const std::vector<std::byte> mark(kWorkspaceBytes, static_cast<std::byte>(++runs % 0x100));
  const auto begin = [=] { std::ranges::copy(mark, static_cast<std::byte*>(workspace)); };
  const auto end = [=, request = impl_->request] {
    if (!std::ranges::equal(mark, std::span(static_cast<const std::byte*>(workspace), mark.size())))
      strict::refuse(cudaErrorIllegalAddress, "two convolutions use one workspace at the same time");
    host::run(request, memory);
  };
  if (strict::enqueue(stream, begin) != cudaSuccess || strict::enqueue(stream, end) != cudaSuccess)
    throw DeviceError("strict stand-in: a convolution did not start");
}

}  // namespace chexbench::engine::cuda
