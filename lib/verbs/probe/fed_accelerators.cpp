#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/errors.hpp"
#include "spec/profile.hpp"
#include "verbs/probe/probe_result.hpp"

namespace chexbench::verbs {
namespace {

constexpr const char* kModel = "resnet50";
constexpr int kImageSize = 224;

// Returns the highest sourced rate for each precision, because people train with the fastest batch. The demands of a
// storage benchmark are not an accelerator's speed.
std::map<spec::Precision, double> best_rates(const spec::AcceleratorProfile& profile) {
  std::map<spec::Precision, double> rates;
  for (const spec::ProfileEntry& entry : profile.entries) {
    if (entry.model != kModel || entry.image_size != kImageSize || entry.computed || entry.record_bytes) continue;
    double& rate = rates[entry.precision];
    rate = std::max(rate, entry.images_per_s);
  }
  return rates;
}

int fed_by(double images_per_s, double needed_images_per_s) {
  return static_cast<int>(std::floor(std::max(0.0, images_per_s) / needed_images_per_s));
}

// Returns the profiles to consider, and whether the text names them.
std::map<std::string, bool> looked_at(const std::vector<std::string>& gpus) {
  std::map<std::string, bool> names;
  for (const std::string& name : gpus) names[name] = true;
  if (!names.empty()) return names;
  for (const std::string& name : spec::profile_names())
    names[name] = name == "v100" || name == "a100" || name == "h100";
  return names;
}

}  // namespace

std::vector<FedAccelerator> fed_accelerators(double images_per_s, const std::optional<measure::Interval>& ci95,
                                             const std::vector<std::string>& gpus) {
  const measure::Interval interval = ci95.value_or(measure::Interval{images_per_s, images_per_s});
  std::vector<FedAccelerator> all;
  for (const auto& [name, named] : looked_at(gpus)) {
    const spec::AcceleratorProfile profile = spec::load_profile(name);
    const std::map<spec::Precision, double> rates = best_rates(profile);
    if (rates.empty() && !gpus.empty())
      throw SpecError(fmt::format("--gpu {}: the profile has no measured rate of resnet50 at 224 x 224", name));
    for (const auto& [precision, rate] : rates) {
      all.push_back({.name = profile.name,
                     .device = profile.device,
                     .precision = precision,
                     .images_per_s = rate,
                     .share = images_per_s / rate,
                     .count = fed_by(images_per_s, rate),
                     .count_low = fed_by(interval.low, rate),
                     .count_high = fed_by(interval.high, rate),
                     .named = named});
    }
  }
  std::ranges::stable_sort(all, {}, &FedAccelerator::images_per_s);
  return all;
}

}  // namespace chexbench::verbs
