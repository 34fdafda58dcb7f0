#include "measure/gpu_sampler.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/clock.hpp"

namespace chexbench::measure {
namespace {

constexpr double kMostCpuShare = 0.01;

}  // namespace

GpuSampler::GpuSampler(std::unique_ptr<const Gpu> gpu, Options options) : gpu_(std::move(gpu)), options_(options) {}

void GpuSampler::start() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    samples_.clear();
    problem_.clear();
  }
  if (take_sample()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void GpuSampler::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (problem().empty()) take_sample();
}

void GpuSampler::run(const std::stop_token& stop) {
  double due_s = now_s() + options_.interval_s;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, std::chrono::duration<double>(due_s - now_s()), [] { return false; });
    }
    if (stop.stop_requested()) return;
    const Stopwatch cost;
    if (!take_sample()) return;
    // The next time is computed from the previous due time, so that small delays do not add up. Missed samples are
    // skipped.
    const double done_s = now_s();
    due_s = (due_s + options_.interval_s > done_s ? due_s : done_s) + options_.interval_s;
    due_s = std::max(due_s, done_s + cost.cpu_s() / kMostCpuShare);
  }
}

// Returns false if the GPU cannot be queried any more.
bool GpuSampler::take_sample() {
  try {
    GpuSample sample = gpu_->sample();  // without the lock, because it makes system calls
    const std::lock_guard lock(mutex_);
    if (samples_.size() == options_.most_samples) samples_.pop_front();
    samples_.push_back(std::move(sample));
    return true;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
    return false;
  }
}

std::vector<GpuSample> GpuSampler::samples() const {
  const std::lock_guard lock(mutex_);
  return {samples_.begin(), samples_.end()};
}

std::string GpuSampler::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace chexbench::measure
