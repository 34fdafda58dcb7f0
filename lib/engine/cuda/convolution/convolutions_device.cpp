// Implements conv_candidates.hpp on the GPU of this process.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/cuda/convolution/conv_candidates.hpp"
#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/convolution/plan_bench.hpp"
#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {
namespace {

// Computes mean and variance of a forward pass's output: from its sums if the plan gives them, else in a pass over y.
class StatisticsPass {
 public:
  StatisticsPass(const PlanRequest& request, const PlanBench& bench)
      : shape_(request.shape),
        type_(element_type(request.precision)),
        bench_(bench),
        moments_(2 * sizeof(float) * static_cast<std::size_t>(shape_.out_channels)),
        scratch_(kernels::reduction_scratch_bytes(shape_.out_channels, kernels::multiprocessors())) {
    scratch_.fill(0);
  }

  void launch() const {
    float* const mean = static_cast<float*>(moments_.data());
    float* const variance = mean + shape_.out_channels;
    const int rows = shape_.images * shape_.out_height() * shape_.out_width();
    if (bench_.at(OperandRole::sum) != nullptr) {
      const kernels::MomentsOfSums moments{
          .sum = static_cast<const float*>(bench_.at(OperandRole::sum)),
          .sum_of_squares = static_cast<const float*>(bench_.at(OperandRole::sum_of_squares)),
          .finish = {.count = static_cast<double>(rows), .mean = mean, .variance = variance}};
      return kernels::launch_moments(moments, shape_.out_channels, nullptr);
    }
    kernels::launch_statistics({.type = type_,
                                .rows = rows,
                                .channels = shape_.out_channels,
                                .x = {bench_.at(OperandRole::y), shape_.out_pixel_stride},
                                .mean = mean,
                                .variance = variance,
                                .scratch = scratch_.data()},
                               nullptr);
  }

 private:
  const ConvShape shape_;
  const FloatType type_;
  const PlanBench& bench_;
  DeviceMemory moments_;
  DeviceMemory scratch_;
};

// Runs a norm and its ReLU before a plain pass: either forward over its input x, or the sums of backward from the
// gradient dx. It allocates the tensors that the bench lacks: forward's output, or backward's input and a residual
// join's other inputs.
class NormPass {
 public:
  // `maps` is the number of tensors that the bench lacks.
  NormPass(const PlanRequest& request, const PlanBench& bench, std::size_t maps = 1)
      : shape_(request.shape),
        type_(element_type(request.precision)),
        bench_(bench),
        other_(maps * map_bytes()),
        parameters_(kRows * sizeof(float) * static_cast<std::size_t>(shape_.in_channels)),
        scratch_(kernels::reduction_scratch_bytes(shape_.in_channels, kernels::multiprocessors())) {
    parameters_.fill(0x2c);
    scratch_.fill(0);
    other_.fill(0x2c);
  }

  // A join needs two maps in forward, and three for its sums.
  void launch(OwnPass pass) const {
    const kernels::Matrix dx{bench_.at(OperandRole::dx), shape_.in_pixel_stride};
    switch (pass) {
      case OwnPass::norm:
        return normalize({}, {other_.data(), shape_.in_channels});
      case OwnPass::join:
        return normalize(map(0), map(1));
      case OwnPass::norm_sums:
        return sum(dx, {}, {}, {});
      case OwnPass::join_sums:
        return sum(map(1), dx, map(2), map(1));
      case OwnPass::affine:
        return kernels::launch_affine(
            {.type = type_, .channels = shape_.in_channels, .norm = norm(), .scale = row(1), .shift = row(2)}, nullptr);
      case OwnPass::copy:
        return;  // CopyPass
    }
  }

 private:
  static constexpr std::size_t kRows = 5;
  static constexpr kernels::Clamp kRelu{0, std::numeric_limits<float>::infinity()};

  void normalize(const kernels::Matrix& residual, const kernels::Matrix& y) const {
    kernels::launch_normalize({.type = type_,
                               .rows = rows(),
                               .channels = shape_.in_channels,
                               .x = {bench_.at(OperandRole::x), shape_.in_pixel_stride},
                               .residual = residual,
                               .y = y,
                               .norm = norm(),
                               .clamp = kRelu},
                              nullptr);
  }
  void sum(const kernels::Matrix& gradient, const kernels::Matrix& gradient2, const kernels::Matrix& output,
           const kernels::Matrix& masked) const {
    kernels::launch_gradient_sums(
        {.type = type_,
         .rows = rows(),
         .channels = shape_.in_channels,
         .x = map(0),
         .gradient = gradient,
         .gradient2 = gradient2,
         .norm = norm(),
         .clamp = kRelu},
        output, masked,
        {.weight_gradient = row(1), .bias_gradient = row(2), .b = row(3), .c = row(4), .scratch = scratch_.data()},
        nullptr);
  }

  int rows() const { return shape_.images * shape_.height * shape_.width; }
  std::size_t map_bytes() const {
    return static_cast<std::size_t>(rows()) * static_cast<std::size_t>(shape_.in_pixel_stride) * bytes_of(type_);
  }
  kernels::Matrix map(std::size_t i) const {
    return {static_cast<std::byte*>(other_.data()) + i * map_bytes(), shape_.in_pixel_stride};
  }
  float* row(int i) const { return static_cast<float*>(parameters_.data()) + i * shape_.in_channels; }
  kernels::NormParameters norm() const {
    return {.mean = row(0), .variance = row(0), .weight = row(0), .bias = row(0), .epsilon = 1e-5f};
  }

  const ConvShape shape_;
  const FloatType type_;
  const PlanBench& bench_;
  DeviceMemory other_;
  DeviceMemory parameters_;
  DeviceMemory scratch_;
};

// Copies a packed tensor, which it allocates, to the output of a forward pass.
class CopyPass {
 public:
  CopyPass(const PlanRequest& request, const PlanBench& bench)
      : shape_(request.shape),
        type_(element_type(request.precision)),
        bench_(bench),
        packed_(static_cast<std::size_t>(rows()) * static_cast<std::size_t>(shape_.out_channels) * bytes_of(type_)) {
    packed_.fill(0x2c);
  }

  void launch() const {
    kernels::launch_copy({.type = type_,
                          .rows = rows(),
                          .channels = shape_.out_channels,
                          .from = {packed_.data(), shape_.out_channels},
                          .to = {bench_.at(OperandRole::y), shape_.out_pixel_stride}},
                         nullptr);
  }

 private:
  int rows() const { return shape_.images * shape_.out_height() * shape_.out_width(); }

  const ConvShape shape_;
  const FloatType type_;
  const PlanBench& bench_;
  DeviceMemory packed_;
};

class DeviceTimings : public CandidateTimer {
 public:
  DeviceTimings(const PlanRequest& request, ConvPlans& plans)
      : request_(request), plans_(plans), bench_(plans.operands()) {}

  CandidateRun run_plan(int index, const Plan& plan, double give_up_s) override {
    bench_.poison_results();
    const double seconds = bench_.median_s(
        plan.workspace_bytes, [&](void* workspace) { run(index, workspace); }, give_up_s);
    return {seconds, bench_.sample()};
  }
  double plan_and_statistics_s(int index, const Plan& plan) override {
    const StatisticsPass statistics(request_, bench_);
    return bench_.median_s(plan.workspace_bytes, [&](void* workspace) {
      run(index, workspace);
      statistics.launch();
    });
  }

  double own_pass_s(OwnPass pass) override {
    if (pass == OwnPass::copy) {
      const CopyPass copy(request_, bench_);
      return bench_.median_s(0, [&](void*) { copy.launch(); });
    }
    const NormPass norm(request_, bench_, pass == OwnPass::join ? 2 : pass == OwnPass::join_sums ? 3 : 1);
    return bench_.median_s(0, [&](void*) { norm.launch(pass); });
  }

 private:
  void run(int index, void* workspace) { plans_.run(index, bench_.memory(), workspace, nullptr); }

  const PlanRequest request_;
  ConvPlans& plans_;
  PlanBench bench_;
};

class DeviceCandidates : public ConvCandidates {
 public:
  DeviceCandidates(const PlanTarget& target, const PlanRequest& request)
      : target_(target), request_(request), plans_(target, request) {}

  int count() const override { return plans_.candidates(); }
  std::string engine(int index) const override { return plans_.engine(index); }
  Plan build(int index) override {
    Plan plan = plans_.build(index);
    if (plan.compiled) compiled_.push_back(index);
    return plan;
  }
  void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) override {
    plans_.run(index, memory, workspace, stream);
  }
  // Plans stay built as long as their ConvPlans, so the kept one is rebuilt if others hold memory.
  int keep_only(int index) override {
    if (std::ranges::count(compiled_, index) == std::ssize(compiled_)) return index;
    ConvPlans fresh(target_, request_);
    const std::string kept = engine(index);
    for (int i = 0; i < fresh.candidates(); ++i) {
      if (fresh.engine(i) != kept) continue;
      if (fresh.build(i).state != PlanState::ready) continue;
      plans_ = std::move(fresh);
      return i;
    }
    return index;
  }
  std::unique_ptr<CandidateTimer> timer() override { return std::make_unique<DeviceTimings>(request_, plans_); }

 private:
  const PlanTarget target_;
  const PlanRequest request_;
  ConvPlans plans_;
  std::vector<int> compiled_;  // candidates that were compiled at run time
};

PlanMachine present_machine() {
  int device = 0, runtime_version = 0;
  cudaDeviceProp properties{};
  kernels::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  kernels::check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  kernels::check_cuda(cudaRuntimeGetVersion(&runtime_version), "cudaRuntimeGetVersion");
  return {.device = properties.name,
          .compute_capability = fmt::format("{}.{}", properties.major, properties.minor),
          .cudnn_version = cudnn_version(),
          .cuda_runtime_version = runtime_version};
}

ConvDevice present_device() {
  require_device();
  return {.machine = present_machine(),
          .candidates = [target = PlanTarget::present_device()](const PlanRequest& request) {
            return std::make_unique<DeviceCandidates>(target, request);
          }};
}

}  // namespace

Convolutions::Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config)
    : Convolutions(shapes, config, present_device()) {}

}  // namespace chexbench::engine::cuda
