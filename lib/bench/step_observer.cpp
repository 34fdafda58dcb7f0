#include "bench/step_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "bench/second_job/second_job.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "measure/process_sampler.hpp"
#include "measure/trace.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::bench {
namespace {

class DeviceBucketTracer final : public StepObserver {
 public:
  explicit DeviceBucketTracer(Reducer& reducer) : reducer_(reducer) {}

  void begin_steps() override {
    if (measure::is_tracing()) reducer_.take_device_buckets();  // those of the previous repeat
  }
  void after_step(std::int64_t, Recorder&) override { trace(); }
  void end_repeat(results::RepeatResult&) override { trace(); }

 private:
  void trace() const {
    if (!measure::is_tracing()) return;
    for (const BucketTime& bucket : reducer_.take_device_buckets()) {
      measure::record_device_span("nccl", {.name = "bucket",
                                           .kind = measure::SpanKind::bucket,
                                           .begin_s = bucket.begin_s,
                                           .end_s = bucket.end_s,
                                           .detail = static_cast<std::int64_t>(bucket.bytes)});
    }
  }

  Reducer& reducer_;
};

class ProgressReporter final : public StepObserver {
 public:
  ProgressReporter(OnStep on_step, std::int64_t first_step, std::int64_t total_steps)
      : on_step_(std::move(on_step)), first_step_(first_step), total_steps_(total_steps) {}

  void after_step(std::int64_t step, Recorder& recorder) override {
    on_step_({.step = step, .total_steps = total_steps_, .first_step = first_step_, .measured = recorder.so_far()});
  }

 private:
  const OnStep on_step_;
  const std::int64_t first_step_;
  const std::int64_t total_steps_;
};

class DisturbanceObserver final : public StepObserver {
 public:
  DisturbanceObserver(std::vector<int> cores, SecondJob* second_job)
      : cores_(std::move(cores)), second_job_(second_job) {}

  void begin_steps() override { begin_ = sample(); }
  void end_repeat(results::RepeatResult& result) override {
    const Sample end = sample();
    if (!begin_.cores || !end.cores) return;
    const double busy_s = end.cores->busy_s - begin_.cores->busy_s;
    const double second_cpu_s = end.second_cpu_s - begin_.second_cpu_s;
    const double span_s = end.time_s - begin_.time_s;
    // Tick counters read one after another can differ slightly.
    result.disturbance = {
        .core_s = span_s * static_cast<double>(cores_.size()),
        .others_s = std::max(0.0, busy_s - (end.own_cpu_s - begin_.own_cpu_s) - second_cpu_s),
        .steal_s = end.cores->steal_s - begin_.cores->steal_s,
        .own_cpu_s = end.own_cpu_s - begin_.own_cpu_s,
        .own_wait_s = std::max(0.0, end.own_wait_s - begin_.own_wait_s),
        .span_s = span_s,
        .throttled_s = end.cores->throttled_s - begin_.cores->throttled_s,
        .memory_stall_s = second_job_ != nullptr ? 0 : end.cores->memory_stall_s - begin_.cores->memory_stall_s,
    };
  }

 private:
  struct Sample {
    double time_s = 0;
    double own_cpu_s = 0;
    double own_wait_s = 0;
    double second_cpu_s = 0;
    std::optional<measure::CoreUse> cores;
  };
  Sample sample() const {
    return {.time_s = now_s(),
            .own_cpu_s = measure::process_cpu_s(),
            .own_wait_s = measure::process_cpu_wait_s(),
            .second_cpu_s = second_job_ != nullptr ? second_job_->sample().cpu_s : 0,
            .cores = measure::sample_core_use(cores_)};
  }

  const std::vector<int> cores_;
  SecondJob* const second_job_;
  Sample begin_;
};

class CoreMaskObserver final : public StepObserver {
 public:
  explicit CoreMaskObserver(std::vector<int> cores) : cores_(std::move(cores)) {}

  void begin_steps() override { begin_s_ = now_s(); }
  void end_repeat(results::RepeatResult& result) override {
    const std::vector<int> left = usable_cpus();
    const auto lost = std::ranges::count_if(cores_, [&](int core) { return !std::ranges::binary_search(left, core); });
    result.disturbance.lost_core_s = static_cast<double>(lost) * (now_s() - begin_s_);
  }

 private:
  const std::vector<int> cores_;
  double begin_s_ = 0;
};

class GpuObserver final : public StepObserver {
 public:
  GpuObserver(GpuWatch& watch, int rank) : watch_(watch), rank_(rank) {}

  void begin_repeat() override { watch_.begin(); }
  void end_repeat(results::RepeatResult& result) override {
    watch_.end();
    result.gpus = watch_.series(result, rank_);
  }

 private:
  GpuWatch& watch_;
  const int rank_;
};

std::string errors_in_words(std::uint64_t errors) {
  return fmt::format("{} uncorrected ECC error{}", errors, errors == 1 ? "" : "s");
}

}  // namespace

std::unique_ptr<StepObserver> trace_device_buckets(Reducer& reducer) {
  return std::make_unique<DeviceBucketTracer>(reducer);
}

std::unique_ptr<StepObserver> report_progress(OnStep on_step, std::int64_t first_step, std::int64_t total_steps) {
  return std::make_unique<ProgressReporter>(std::move(on_step), first_step, total_steps);
}

std::unique_ptr<StepObserver> measure_disturbance(std::vector<int> cores, SecondJob* second_job) {
  return std::make_unique<DisturbanceObserver>(std::move(cores), second_job);
}

std::unique_ptr<StepObserver> watch_core_mask(std::vector<int> cores) {
  return std::make_unique<CoreMaskObserver>(std::move(cores));
}

std::unique_ptr<StepObserver> sample_gpu(GpuWatch& watch, int rank) {
  return std::make_unique<GpuObserver>(watch, rank);
}

GpuWatch::GpuWatch(std::string gpu_uuid) : gpu_uuid_(std::move(gpu_uuid)) {
  if (gpu_uuid_.empty()) return;
  try {
    sampler_.emplace(measure::open_nvml()->gpu_by_uuid(gpu_uuid_));
  } catch (const DeviceError& error) {
    problem_ = error.what();
  }
}

void GpuWatch::begin() {
  if (sampler_) sampler_->start();
}

void GpuWatch::end() {
  if (sampler_) sampler_->stop();
}

std::vector<results::GpuSeries> GpuWatch::series(const results::RepeatResult& result, int rank) const {
  if (gpu_uuid_.empty()) return {};
  results::GpuSeries seen{.rank = rank, .uuid = gpu_uuid_, .problem = problem_};
  if (sampler_) {
    seen.name = sampler_->gpu().name;
    seen.problem = sampler_->problem();
    const auto window = results::measured_window(result, rank);
    if (window) seen.samples = results::samples_around(sampler_->samples(), *window);
  }
  return {std::move(seen)};
}

std::string GpuWatch::last_words() {
  if (!sampler_) return "";
  end();
  const std::vector<measure::GpuSample> samples = sampler_->samples();
  const double ever = std::numeric_limits<double>::infinity();
  const std::uint64_t errors = measure::summarize(samples, -ever, ever).new_uncorrected_ecc_errors.value_or(0);
  std::string words = errors == 0 ? "" : fmt::format(" (NVML: {} on {})", errors_in_words(errors), gpu_uuid_);
  if (!sampler_->problem().empty()) words += fmt::format(" (NVML: {})", sampler_->problem());
  return words;
}

std::vector<std::string> ecc_notes(const results::RepeatResult& repeat) {
  std::vector<std::string> notes;
  for (const results::GpuSeries& gpu : repeat.gpus) {
    const std::uint64_t errors = results::summarize_gpu(repeat, gpu).new_uncorrected_ecc_errors.value_or(0);
    if (errors == 0) continue;
    notes.push_back(fmt::format("repeat {}, rank {}: {} on {}: its results may be wrong", repeat.repeat, gpu.rank,
                                errors_in_words(errors), gpu.uuid));
  }
  return notes;
}

}  // namespace chexbench::bench
