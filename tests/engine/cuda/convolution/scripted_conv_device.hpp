// A device whose convolutions take the times that a test sets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/convolution/conv_candidates.hpp"

namespace chexbench::engine::cuda {

struct ScriptedPlan {
  std::string engine;
  double seconds = 1;
  PlanState state = PlanState::ready;
  std::int64_t workspace_bytes = 0;
  double statistics_s = 1;  // Of the separate pass for mean and variance.
  bool runs = true;
  std::vector<float> sample{1};  // Of its results.
  bool breaks_device = false;
};

struct ScriptedRun {
  ConvPattern pattern;
  std::string engine;
  std::map<OperandRole, void*> memory;
  void* workspace;
  kernels::Stream stream;
};

// The plans that are offered for each pattern, for any shape, and a record of their use.
struct ScriptedDevice {
  std::map<ConvPattern, std::vector<ScriptedPlan>> plans;  // No plan is offered for a pattern that is missing.
  std::vector<std::string> timed;                          // Engines, in order.
  std::vector<double> gave_up_after_s;                     // The arguments of each timing.
  std::vector<std::string> built;
  std::vector<std::string> kept;  // The only plans kept.
  std::function<void()> on_timing = [] {};
  std::vector<ScriptedRun> runs;
  int timers = 0;  // Number of timers that exist.
  std::map<OwnPass, double> own_pass_s{{OwnPass::norm, 1},      {OwnPass::join, 1},   {OwnPass::norm_sums, 1},
                                       {OwnPass::join_sums, 1}, {OwnPass::affine, 0}, {OwnPass::copy, 0}};

  inline ConvDevice device();
};

class ScriptedTimer : public CandidateTimer {
 public:
  ScriptedTimer(ScriptedDevice& device, const std::vector<ScriptedPlan>& plans) : device_(device), plans_(plans) {
    ++device_.timers;
  }
  ~ScriptedTimer() override { --device_.timers; }

  CandidateRun run_plan(int index, const Plan&, double give_up_s) override {
    const ScriptedPlan& plan = plans_.at(static_cast<std::size_t>(index));
    device_.timed.push_back(plan.engine);
    device_.gave_up_after_s.push_back(give_up_s);
    device_.on_timing();
    if (plan.breaks_device) throw DeviceLostError("an illegal address");
    if (!plan.runs) throw DeviceError(plan.engine + " did not start");
    return {plan.seconds, plan.sample};
  }
  double own_pass_s(OwnPass pass) override {
    if (pass != OwnPass::affine) device_.timed.push_back("own pass");
    return device_.own_pass_s.at(pass);
  }
  double plan_and_statistics_s(int index, const Plan&) override {
    const ScriptedPlan& plan = plans_.at(static_cast<std::size_t>(index));
    device_.timed.push_back(plan.engine + " with statistics");
    return plan.seconds + plan.statistics_s;
  }

 private:
  ScriptedDevice& device_;
  const std::vector<ScriptedPlan>& plans_;
};

class ScriptedCandidates : public ConvCandidates {
 public:
  ScriptedCandidates(ScriptedDevice& device, ConvPattern pattern)
      : device_(device), pattern_(pattern), plans_(device.plans.at(pattern)) {}

  int count() const override { return static_cast<int>(plans_.size()); }
  std::string engine(int index) const override { return at(index).engine; }
  Plan build(int index) override {
    device_.built.push_back(engine(index));
    return {.state = at(index).state,
            .engine = engine(index),
            .workspace_bytes = at(index).workspace_bytes,
            .reason = at(index).state == PlanState::ready ? "" : engine(index) + " was refused"};
  }
  void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) override {
    ScriptedRun run{pattern_, engine(index), {}, workspace, stream};
    for (const OperandMemory& operand : memory) run.memory[operand.role] = operand.data;
    device_.runs.push_back(std::move(run));
  }
  int keep_only(int index) override {
    device_.kept.push_back(engine(index));
    return index;
  }
  std::unique_ptr<CandidateTimer> timer() override { return std::make_unique<ScriptedTimer>(device_, plans_); }

 private:
  const ScriptedPlan& at(int index) const { return plans_.at(static_cast<std::size_t>(index)); }

  ScriptedDevice& device_;
  const ConvPattern pattern_;
  const std::vector<ScriptedPlan>& plans_;
};

inline ConvDevice ScriptedDevice::device() {
  return {.machine = {.device = "scripted"},
          .candidates = [this](const PlanRequest& request) -> std::unique_ptr<ConvCandidates> {
            if (!plans.contains(request.pattern)) throw DeviceError("nothing offered for " + request.text());
            return std::make_unique<ScriptedCandidates>(*this, request.pattern);
          }};
}

}  // namespace chexbench::engine::cuda
