// The candidates of one request, and what times them: cuDNN's on a device, scripted ones in tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/conv_plans.hpp"
#include "engine/cuda/plan_cache.hpp"

namespace chexbench::engine::cuda {

// Holds device memory for all operands while it lives. Not thread-safe.
class CandidateTimer {
 public:
  virtual ~CandidateTimer() = default;

  // Of one run of candidate `index`, which was built as `plan`, in seconds. @throws DeviceError where it does not run
  virtual double plan_s(int index, const Plan& plan) = 0;
  // The same of a forward pass, and of what finds mean and variance of each channel of its output then.
  virtual double plan_and_statistics_s(int index, const Plan& plan) = 0;
  // Of the pass of a norm and its ReLU over the input.
  virtual double norm_s() = 0;
  // Of the pass of backward that finds such a norm's sums from its input and from its output's gradient.
  virtual double norm_sums_s() = 0;
};

// As ConvPlans. Not thread-safe.
class ConvCandidates {
 public:
  virtual ~ConvCandidates() = default;

  virtual int count() const = 0;
  virtual std::string engine(int index) const = 0;
  virtual Plan build(int index) = 0;
  virtual void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) = 0;
  // @throws DeviceError where device memory is short
  virtual std::unique_ptr<CandidateTimer> timer() = 0;
};

struct ConvDevice {
  PlanMachine machine;
  // @throws DeviceError where cuDNN offers nothing
  std::function<std::unique_ptr<ConvCandidates>(const PlanRequest&)> candidates;
};

}  // namespace chexbench::engine::cuda
