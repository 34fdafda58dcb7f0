#include "verbs/model/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "verbs/model/efficiency.hpp"

namespace chexbench::verbs {
namespace {

// Four digits are more than the method is worth, and keep files readable.
double four_significant(double value) { return parse_number<double>(fmt::format("{:.4g}", value)).value_or(value); }

// Entries of one step must agree in what they contain, so a computed one follows those that the profile has.
bool includes_update(const spec::AcceleratorProfile& profile, const spec::ProfileEntry& wanted) {
  for (const spec::ProfileEntry& entry : profile.entries) {
    if (entry.model == wanted.model && entry.image_size == wanted.image_size && entry.precision == wanted.precision)
      return entry.includes_update;
  }
  return true;
}

RooflineEntry compute_entry(const spec::AcceleratorProfile& profile, spec::ProfileEntry entry,
                            const Efficiency& efficiency) {
  entry.includes_update = includes_update(profile, entry);
  const PeakStep peak = peak_step(*profile.peaks, entry);
  const double compute_s = peak_compute_s(*profile.peaks, entry) / efficiency.value;
  entry.images_per_s = four_significant(entry.batch_size / compute_s);
  if (!entry.includes_update) entry.update_s = four_significant(peak.update_s / efficiency.value);
  entry.source = fmt::format(
      "computed, not measured: roofline of the layer graph at an efficiency of {:.3f}, from sourced entries: {}",
      efficiency.value, efficiency.basis);
  return {.entry = std::move(entry),
          .efficiency = efficiency.value,
          .memory_bound_share = peak.memory_bound_s / (peak.layers_s + peak.update_s)};
}

void check_peaks(const spec::AcceleratorProfile& profile, spec::Precision precision) {
  if (!profile.peaks) {
    throw SpecError(fmt::format(
        "--roofline: the profile '{}' gives no 'peaks'; a device's peak FLOP/s and bytes/s are needed", profile.name));
  }
  if (profile.peaks->flops_per_s.contains(precision)) return;
  std::vector<std::string> known;
  for (const auto& [one, rate] : profile.peaks->flops_per_s) known.push_back(to_string(one));
  throw SpecError(fmt::format("--precision: the profile '{}' gives no peak FLOP/s for {}; it has: {}", profile.name,
                              to_string(precision), fmt::join(known, ", ")));
}

std::vector<RooflineCheck> check_sourced(const spec::AcceleratorProfile& profile, const std::vector<Attained>& known) {
  std::vector<RooflineCheck> checks;
  for (const Attained& one : known) {
    if (one.place.device != profile.name) continue;
    const Wanted wanted{.entry = *one.entry, .place = one.place, .known = known};
    const auto images_per_s = [&one](const std::optional<Efficiency>& by) {
      return by ? std::optional(one.entry->images_per_s * by->value / one.efficiency) : std::nullopt;
    };
    checks.push_back({.entry = *one.entry,
                      .efficiency = one.efficiency,
                      .by_own_network = images_per_s(by_own_network(wanted)),
                      .by_proportion = images_per_s(by_proportion(wanted)),
                      .by_other_networks = images_per_s(by_other_networks(wanted))});
  }
  return checks;
}

// @throws SpecError if nothing at the wanted place is known
Efficiency best_efficiency(const Wanted& wanted) {
  if (const auto own = by_own_network(wanted)) return *own;
  if (const auto proportion = by_proportion(wanted)) return *proportion;
  if (const auto others = by_other_networks(wanted)) return *others;
  throw SpecError(
      fmt::format("--roofline: the profile '{}' has no sourced entry in {}, besides the wanted one, from which an "
                  "efficiency could be taken",
                  wanted.place.device, to_string(wanted.place.precision)));
}

}  // namespace

Roofline compute_roofline(const spec::AcceleratorProfile& profile, const RooflineRequest& request,
                          std::span<const spec::AcceleratorProfile> others) {
  model::make_network(request.model, request.image_size);  // throws for an unknown name before anything else is said
  check_peaks(profile, request.precision);
  std::vector<Attained> known;
  add_attained(profile, known);
  for (const spec::AcceleratorProfile& other : others) {
    if (other.name != profile.name) add_attained(other, known);
  }
  Roofline result{.chexbench_version = {}, .profile = profile, .entries = {}, .checks = check_sourced(profile, known)};
  for (const int batch_size : request.batch_sizes) {
    const spec::ProfileEntry entry{.model = request.model,
                                   .image_size = request.image_size,
                                   .precision = request.precision,
                                   .batch_size = batch_size,
                                   .backward_share = 2.0 / 3,
                                   .computed = true,
                                   .source = {}};
    const Efficiency efficiency =
        best_efficiency({.entry = entry, .place = {profile.name, request.precision}, .known = known});
    result.entries.push_back(compute_entry(profile, entry, efficiency));
  }
  return result;
}

std::vector<spec::AcceleratorProfile> built_in_profiles() {
  std::vector<spec::AcceleratorProfile> profiles;
  for (const std::string& name : spec::profile_names()) profiles.push_back(spec::load_profile(name));
  return profiles;
}

std::optional<double> median_misfit(const std::vector<RooflineCheck>& checks,
                                    std::optional<double> RooflineCheck::*computed) {
  std::vector<double> factors;
  for (const RooflineCheck& one : checks) {
    if (!(one.*computed)) continue;
    const double ratio = *(one.*computed) / one.entry.images_per_s;
    factors.push_back(std::max(ratio, 1 / ratio));
  }
  return factors.empty() ? std::nullopt : std::optional(measure::median(factors));
}

}  // namespace chexbench::verbs
