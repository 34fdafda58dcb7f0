#include "engine/cuda/convolution/plan_bench.hpp"

#include <algorithm>

namespace chexbench::engine::cuda {
namespace {

constexpr int kWarmUpRuns = 3;  // the first run loads the kernel
constexpr int kTimedRuns = 11;
// This many bytes are written before each run, for two reasons. No run finds its operands in a cache (H100 and H200
// have 50 to 60 MB), as none does in the middle of a step. And the device is busy (0.1 to 0.2 ms) for longer than the
// host takes to queue the run.
constexpr std::size_t kFlushBytes = 512u << 20;

}  // namespace

PlanBench::PlanBench(const std::vector<Operand>& operands) : flush_(kFlushBytes) {
  for (const Operand& operand : operands) {
    tensors_.emplace_back(operand.bytes);
    // The bytes 0x2c2c are 0.06 in fp16 and 2.4e-12 in bf16 and f32: finite, and not zero, which would reduce the
    // device's power.
    tensors_.back().fill(0x2c);
    memory_.push_back({operand.role, tensors_.back().data()});
  }
}

void* PlanBench::at(OperandRole role) const {
  const auto found = std::ranges::find(memory_, role, &OperandMemory::role);
  return found == memory_.end() ? nullptr : found->data;
}

double PlanBench::median_s(std::int64_t workspace_bytes, const std::function<void(void* workspace)>& run) {
  const DeviceMemory workspace(static_cast<std::size_t>(std::max<std::int64_t>(workspace_bytes, 1)));
  const auto run_s = [&] {
    flush_.fill(0);
    timer_.begin();
    run(workspace.data());
    timer_.end();
    return timer_.elapsed_s();
  };
  for (int i = 0; i < kWarmUpRuns; ++i) run_s();
  std::vector<double> times_s(kTimedRuns);
  std::ranges::generate(times_s, run_s);
  std::ranges::nth_element(times_s, times_s.begin() + kTimedRuns / 2);
  return times_s[kTimedRuns / 2];
}

}  // namespace chexbench::engine::cuda
