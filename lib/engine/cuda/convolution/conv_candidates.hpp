// The interface between the tuner and a device: the candidates for one request, and timers for them. A device
// implements it with cuDNN; tests implement it with scripted answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_plans.hpp"
#include "engine/cuda/convolution/plan_cache.hpp"

namespace chexbench::engine::cuda {

// Times the candidates of one request. Holds device memory for all operands while it lives. Not thread-safe. All
// functions return seconds. @throws DeviceError if what is timed does not run
class CandidateTimer {
 public:
  virtual ~CandidateTimer() = default;

  // The time of one run of candidate `index`, which was built as `plan`.
  virtual double plan_s(int index, const Plan& plan) = 0;
  // The time of one run of a forward pass together with the pass that then finds mean and variance of each channel of
  // its output.
  virtual double plan_and_statistics_s(int index, const Plan& plan) = 0;
  // The time of the separate pass of a norm and its ReLU over the input.
  virtual double norm_s() = 0;
  // The time of the separate backward pass that computes such a norm's sums from the norm's input and its output's
  // gradient.
  virtual double norm_sums_s() = 0;
};

// The candidates of one request. The functions have the contracts of ConvPlans' functions (conv_plans.hpp). Not
// thread-safe.
class ConvCandidates {
 public:
  virtual ~ConvCandidates() = default;

  virtual int count() const = 0;
  virtual std::string engine(int index) const = 0;
  virtual Plan build(int index) = 0;
  virtual void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) = 0;
  // Returns a timer, which must not outlive this object. @throws DeviceError if there is not enough device memory
  virtual std::unique_ptr<CandidateTimer> timer() = 0;
};

// A device that can be asked for candidates.
struct ConvDevice {
  PlanMachine machine;  // part of the cache's keys
  // Returns the candidates for a request. @throws DeviceError if cuDNN offers none
  std::function<std::unique_ptr<ConvCandidates>(const PlanRequest&)> candidates;
};

}  // namespace chexbench::engine::cuda
