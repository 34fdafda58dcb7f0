#include "verbs/model/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "report/text_table.hpp"
#include "verbs/model/efficiency.hpp"

namespace chexbench::verbs {
namespace {

// Four digits exceed the method's accuracy, and keep files readable.
double four_significant(double value) { return parse_number<double>(fmt::format("{:.4g}", value)).value_or(value); }

// Entries of one step must contain the same work, so a computed one follows those in the profile.
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
  model::make_network(request.model, request.image_size);  // throws for an unknown name before any other check
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

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

std::string four_digits(const std::optional<double>& images_per_s) {
  return images_per_s ? fmt::format("{:.4g}", *images_per_s) : "";
}

std::string misfit_percent(const RooflineCheck& check, const std::optional<double>& computed) {
  return computed ? fmt::format("{:+.0f} %", 100 * (*computed / check.entry.images_per_s - 1)) : "";
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("a factor of {:.2f}", *factor) : "cannot be checked";
}

std::string entries_table(const Roofline& roofline, const report::LineWidth& width) {
  report::TextTable table{.header = {"batch", "images/s", "step", "efficiency", "bound by memory"}, .rows = {}};
  for (const RooflineEntry& one : roofline.entries) {
    table.rows.push_back({std::to_string(one.entry.batch_size), four_digits(one.entry.images_per_s),
                          fmt::format("{:.1f} ms", 1e3 * one.entry.compute_s()), fmt::format("{:.3f}", one.efficiency),
                          fmt::format("{:.0f} %", 100 * one.memory_bound_share)});
  }
  return report::fitted_text(table, width, "--format json");
}

std::string checks_table(const Roofline& roofline, const report::LineWidth& width) {
  report::TextTable table{.header = {"sourced entry", "precision", "batch", "images/s", "efficiency", "own network",
                                     "off by", "proportion", "off by", "other networks", "off by"},
                          .rows = {},
                          .left_columns = 2,
                          .expendable = {4, 2, 8, 10, 7, 9}};
  for (const RooflineCheck& check : roofline.checks) {
    table.rows.push_back({fmt::format("{} {}x{}", check.entry.model, check.entry.image_size, check.entry.image_size),
                          to_string(check.entry.precision), std::to_string(check.entry.batch_size),
                          four_digits(check.entry.images_per_s), fmt::format("{:.3f}", check.efficiency),
                          four_digits(check.by_own_network), misfit_percent(check, check.by_own_network),
                          four_digits(check.by_proportion), misfit_percent(check, check.by_proportion),
                          four_digits(check.by_other_networks), misfit_percent(check, check.by_other_networks)});
  }
  return report::fitted_text(table, width, "--format json");
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json roofline_check_to_json(const RooflineCheck& check) {
  return {{"model", check.entry.model},
          {"image_size", check.entry.image_size},
          {"precision", to_string(check.entry.precision)},
          {"batch_size", check.entry.batch_size},
          {"images_per_s", check.entry.images_per_s},
          {"efficiency", check.efficiency},
          {"computed_by_own_network_images_per_s", number_or_null(check.by_own_network)},
          {"computed_by_proportion_images_per_s", number_or_null(check.by_proportion)},
          {"computed_by_other_networks_images_per_s", number_or_null(check.by_other_networks)}};
}

}  // namespace

std::string roofline_table(const Roofline& roofline, const report::LineWidth& width) {
  const spec::ProfileEntry& first = roofline.entries.front().entry;
  std::string text = fmt::format(
      "{} {}x{} {} on {}: computed, not measured\npeaks: {:.4g} FLOP/s, {:.4g} bytes/s ({})\n{}\n\n{}\n"
      "For the list 'entries' of a profile:\n",
      first.model, first.image_size, first.image_size, to_string(first.precision), roofline.profile.device,
      roofline.profile.peaks->flops_per_s.at(first.precision), roofline.profile.peaks->bytes_per_s,
      roofline.profile.peaks->source, first.source, entries_table(roofline, width));
  for (std::size_t i = 0; i < roofline.entries.size(); ++i)
    text += spec::entry_json(roofline.entries[i].entry) + (i + 1 < roofline.entries.size() ? ",\n" : "\n");
  text += fmt::format(
      "\nThe same for each sourced entry, with an efficiency from other entries only:\n\n{}\nmedian misfit: by the "
      "same network {}; by proportion {}; by other networks {}\n",
      checks_table(roofline, width), factor_text(median_misfit(roofline.checks, &RooflineCheck::by_own_network)),
      factor_text(median_misfit(roofline.checks, &RooflineCheck::by_proportion)),
      factor_text(median_misfit(roofline.checks, &RooflineCheck::by_other_networks)));
  return text;
}

std::string roofline_json(const Roofline& roofline) {
  Json object = {
      {"chexbench_version", roofline.chexbench_version},
      {"profile", roofline.profile.name},
      {"device", roofline.profile.device},
      {"entries", Json::array()},
      {"checks", Json::array()},
      {"median_misfit_by_own_network", number_or_null(median_misfit(roofline.checks, &RooflineCheck::by_own_network))},
      {"median_misfit_by_other_networks",
       number_or_null(median_misfit(roofline.checks, &RooflineCheck::by_other_networks))}};
  for (const RooflineEntry& one : roofline.entries) {
    Json& entry = object["entries"].emplace_back(Json::parse(spec::entry_json(one.entry)));
    entry["efficiency"] = one.efficiency;
    entry["memory_bound_share"] = one.memory_bound_share;
  }
  for (const RooflineCheck& check : roofline.checks) object["checks"].push_back(roofline_check_to_json(check));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::verbs
