#include "bench/gpu_watch.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/errors.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::bench {
namespace {

std::string errors_in_words(std::uint64_t errors) {
  return fmt::format("{} uncorrected ECC error{}", errors, errors == 1 ? "" : "s");
}

}  // namespace

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
    notes.push_back(fmt::format("repeat {}, rank {}: {} on {}: what it computed may be wrong", repeat.repeat, gpu.rank,
                                errors_in_words(errors), gpu.uuid));
  }
  return notes;
}

}  // namespace chexbench::bench
