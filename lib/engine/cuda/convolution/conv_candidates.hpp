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

// The result of running a candidate.
struct CandidateRun {
  double seconds = 0;         // of one run
  std::vector<float> sample;  // of its results, at the same positions for all candidates of a request
};

// Our own kernels that a fused plan saves or needs.
enum class OwnPass {
  norm,  // the separate pass of a norm and its ReLU over the input
  join,  // the same for a residual join, whose pass also reads the residual
  // The separate backward pass that computes such a norm's sums from the norm's input and its output's gradient.
  norm_sums,
  // The same for a residual join: the pass adds two gradients of the norm's output, reads that output, and writes the
  // gradient that passed the ReLU.
  join_sums,
  affine,  // the small kernel that computes the scale and shift of a norm, which a fused forward pass reads
  copy,    // of a packed tensor to where a forward pass writes its output
};

// Times the candidates of one request. Holds device memory for all operands during its lifetime. Not thread-safe. All
// functions that return doubles return seconds. @throws DeviceError if the timed work does not run, DeviceLostError if
// the device then stopped working
class CandidateTimer {
 public:
  virtual ~CandidateTimer() = default;

  // Runs candidate `index`, which was built as `plan`. Times fewer runs if the first ones take longer than `give_up_s`.
  // Results that the candidate does not write are NaN in the sample.
  virtual CandidateRun run_plan(int index, const Plan& plan, double give_up_s) = 0;
  // The time of one run of a forward pass together with the pass that then finds mean and variance of each channel of
  // its output.
  virtual double plan_and_statistics_s(int index, const Plan& plan) = 0;
  // The time of one of our passes.
  virtual double own_pass_s(OwnPass pass) = 0;
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
  // Frees the device memory of all built candidates except `index`. No timer may exist. Returns the new index of the
  // kept one.
  virtual int keep_only(int index) = 0;
  // Returns a timer, which must not outlive this object. @throws DeviceError if there is not enough device memory
  virtual std::unique_ptr<CandidateTimer> timer() = 0;
};

// A device that offers candidates.
struct ConvDevice {
  PlanMachine machine;  // part of the cache's keys
  // Returns the candidates for a request. @throws DeviceError if cuDNN offers none
  std::function<std::unique_ptr<ConvCandidates>(const PlanRequest&)> candidates;
};

}  // namespace chexbench::engine::cuda
