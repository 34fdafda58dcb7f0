#include "engine/cuda/convolution/plan_bench.hpp"

#include <algorithm>

#include "core/errors.hpp"
#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/program/precision.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kTimedRuns = 5;        // after one that loads the kernel
constexpr std::size_t kFlushedPerCache = 8;  // times the size of the cache are written, and the same amount is read
constexpr std::size_t kFlushChannels = 1024;
constexpr std::size_t kSampledRows = 256, kSampledRowBytes = 32;

void fill(const DeviceMemory& memory, FloatType type, std::size_t operand) {
  const auto fill_as = [&]<typename T>(T) {
    const std::vector<T> values = bench_values<T>(operand, memory.bytes() / sizeof(T));
    fill_with(memory, std::as_bytes(std::span(values)));
  };
  if (type == FloatType::f32) return fill_as(float{});
  if (type == FloatType::fp16) return fill_as(kernels::Half{});
  fill_as(kernels::BFloat16{});
}

// Appends values from the beginning and the end of some rows of the tensor.
void append_sample(const Operand& operand, const void* tensor, std::vector<float>& sample) {
  const std::size_t rows = operand.bytes / operand.pitch_bytes, step = (rows + kSampledRows - 1) / kSampledRows;
  const std::size_t height = (rows + step - 1) / step, width = std::min(kSampledRowBytes, operand.row_bytes);
  for (const std::size_t offset : {std::size_t{0}, operand.row_bytes - width}) {
    const std::vector<float> values =
        fetch_rows_as_floats(operand.type, static_cast<const std::byte*>(tensor) + offset,
                             {.row_bytes = width, .pitch_bytes = step * operand.pitch_bytes, .rows = height}, nullptr);
    sample.insert(sample.end(), values.begin(), values.end());
  }
}

}  // namespace

// By doubling the filled part.
void fill_with(const DeviceMemory& memory, std::span<const std::byte> pattern) {
  std::size_t filled = std::min(pattern.size(), memory.bytes());
  auto* const begin = static_cast<std::byte*>(memory.data());
  copy_to_device(begin, pattern.data(), filled, nullptr);
  for (; filled < memory.bytes(); filled *= 2)
    copy_on_device(begin + filled, begin, std::min(filled, memory.bytes() - filled), nullptr);
}

CacheFlush::CacheFlush()
    : rows_(kFlushedPerCache * current_device().cache_bytes / (sizeof(float) * kFlushChannels)),
      memory_(2 * half_bytes()),
      moments_(2 * sizeof(float) * kFlushChannels),
      scratch_(kernels::reduction_scratch_bytes(static_cast<int>(kFlushChannels), kernels::multiprocessors())) {
  memory_.fill(0);
  scratch_.fill(0);
}

// Reading comes last, because data written last would still be dirty in the cache and be written back during the run.
void CacheFlush::queue() {
  auto* const begin = static_cast<std::byte*>(memory_.data());
  auto* const moments = static_cast<float*>(moments_.data());
  clear(begin, half_bytes(), nullptr);
  kernels::launch_statistics({.type = FloatType::f32,
                              .rows = static_cast<int>(rows_),
                              .channels = static_cast<int>(kFlushChannels),
                              .x = {begin + half_bytes(), static_cast<int>(kFlushChannels)},
                              .mean = moments,
                              .variance = moments + kFlushChannels,
                              .scratch = scratch_.data()},
                             nullptr);
}

std::size_t CacheFlush::half_bytes() const { return rows_ * kFlushChannels * sizeof(float); }

double ColdTimer::median_s(const std::function<void()>& run, double give_up_s) {
  const auto run_s = [&] {
    flush_.queue();
    timer_.begin();
    run();
    timer_.end();
    return timer_.elapsed_s();
  };
  run_s();
  std::vector<double> times_s{run_s()};
  while (times_s.size() < kTimedRuns && times_s.front() <= give_up_s) times_s.push_back(run_s());
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::ranges::nth_element(times_s, middle);
  return *middle;
}

PlanBench::PlanBench(const std::vector<Operand>& operands) : operands_(operands) {
  for (const Operand& operand : operands_) {
    tensors_.emplace_back(operand.bytes);
    fill(tensors_.back(), operand.type, tensors_.size());
    memory_.push_back({operand.role, tensors_.back().data()});
  }
}

void* PlanBench::at(OperandRole role) const {
  const auto found = std::ranges::find(memory_, role, &OperandMemory::role);
  return found == memory_.end() ? nullptr : found->data;
}

double PlanBench::median_s(std::int64_t workspace_bytes, const std::function<void(void* workspace)>& run,
                           double give_up_s) {
  const DeviceMemory workspace(static_cast<std::size_t>(std::max<std::int64_t>(workspace_bytes, 1)));
  try {
    return timer_.median_s([&] { run(workspace.data()); }, give_up_s);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError&) {
    check_device();  // a library's error may hide that the device is lost
    throw;
  }
}

void PlanBench::poison_results() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].is_result) tensors_[i].fill(0xff);  // NaN in every element type
  }
}

std::vector<float> PlanBench::sample() const {
  std::vector<float> sample;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].is_result) append_sample(operands_[i], tensors_[i].data(), sample);
  }
  return sample;
}

}  // namespace chexbench::engine::cuda
