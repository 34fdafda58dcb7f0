#include "verbs/model/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "model/roofline.hpp"
#include "report/text_table.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

// ---- The share of the roofline that published speeds reach, and the share to expect of unpublished ones

// The time of a step at the peaks of a device, in seconds.
struct PeakStep {
  double layers_s = 0;
  double update_s = 0;
  double memory_bound_s = 0;  // the part of both in which memory takes longer than arithmetic
};

// A device and a precision.
struct DevicePrecision {
  std::string device;  // the profile's name
  spec::Precision precision = spec::Precision::f32;

  bool operator==(const DevicePrecision&) const = default;
  bool operator<(const DevicePrecision& other) const {
    return std::tie(device, precision) < std::tie(other.device, other.precision);
  }
  std::string words() const { return fmt::format("{} {}", device, to_string(precision)); }  // "k80 f32"
};

// The share of the roofline that a sourced entry reached. `entry` points into the profile, which must outlive it.
struct Attained {
  const spec::ProfileEntry* entry = nullptr;
  DevicePrecision place;
  double efficiency = 0;
};

int value_bytes(spec::Precision precision) {
  return precision == spec::Precision::fp16 || precision == spec::Precision::bf16 ? 2 : 4;
}

bool is_known(const std::string& network) {
  return std::ranges::find(model::network_names(), network) != model::network_names().end();
}

// Returns the roofline of the entry's network, size, precision and batch.
// @throws SpecError if the network is unknown or the image too small
PeakStep peak_step(const spec::PeakRates& peaks, const spec::ProfileEntry& entry) {
  const model::Graph graph = model::make_network(entry.model, entry.image_size);
  const model::Roofs roofs{.flops_per_s = peaks.flops_per_s.at(entry.precision), .bytes_per_s = peaks.bytes_per_s};
  PeakStep step{.update_s = model::update_work(graph).seconds(roofs)};
  step.memory_bound_s = step.update_s;
  for (const model::Work& layer : model::training_work(graph, entry.batch_size, value_bytes(entry.precision))) {
    step.layers_s += layer.seconds(roofs);
    if (layer.memory_bound(roofs)) step.memory_bound_s += layer.seconds(roofs);
  }
  return step;
}

// Returns the seconds at the peaks for the work in the entry's images/s: the layers, and the update if it is included.
// @throws SpecError as peak_step() does
double peak_compute_s(const spec::PeakRates& peaks, const spec::ProfileEntry& entry) {
  const PeakStep step = peak_step(peaks, entry);
  return step.layers_s + (entry.includes_update ? step.update_s : 0);
}

// Adds the efficiencies of the profile's sourced entries, in each precision that has a peak rate. Leaves out entries
// that were computed or contain communication, and networks that chexbench does not have.
void add_attained(const spec::AcceleratorProfile& profile, std::vector<Attained>& all) {
  if (!profile.peaks) return;
  for (const spec::ProfileEntry& entry : profile.entries) {
    if (entry.computed || entry.includes_communication || !is_known(entry.model)) continue;
    if (!profile.peaks->flops_per_s.contains(entry.precision)) continue;
    all.push_back({.entry = &entry,
                   .place = {profile.name, entry.precision},
                   .efficiency = peak_compute_s(*profile.peaks, entry) / entry.compute_s()});
  }
}

// An efficiency, and the words for its origin.
struct Efficiency {
  double value = 0;
  std::string basis;
};

// The place of a wanted efficiency, and all known ones.
struct Wanted {
  const spec::ProfileEntry& entry;
  DevicePrecision place;
  const std::vector<Attained>& known;
};

// Returns the entry of a network at a place whose size, then batch, is nearest to the wanted one's by ratio, but not
// the wanted entry itself; null if there is none.
const Attained* nearest(const Wanted& wanted, const DevicePrecision& place, const std::string& network) {
  const auto distance = [&wanted](const Attained& one) {
    const auto apart = [](int a, int b) { return std::abs(std::log(static_cast<double>(a) / b)); };
    return std::tuple(apart(one.entry->image_size, wanted.entry.image_size),
                      apart(one.entry->batch_size, wanted.entry.batch_size));
  };
  const bool may_be_itself = place == wanted.place && network == wanted.entry.model;
  const Attained* best = nullptr;
  for (const Attained& one : wanted.known) {
    if (one.place != place || one.entry->model != network) continue;
    if (may_be_itself && distance(one) == std::tuple(0.0, 0.0)) continue;
    if (best == nullptr || distance(one) < distance(*best)) best = &one;
  }
  return best;
}

std::string basis_words(const Attained& one) {
  return fmt::format("{:.3f} of {} {}x{} at batch {}", one.efficiency, one.entry->model, one.entry->image_size,
                     one.entry->image_size, one.entry->batch_size);
}

// Returns the nearest entry of each other network at the wanted place.
std::vector<const Attained*> other_networks(const Wanted& wanted) {
  std::vector<const Attained*> others;
  for (const std::string& network : model::network_names()) {
    if (network == wanted.entry.model) continue;
    if (const Attained* const one = nearest(wanted, wanted.place, network); one != nullptr) others.push_back(one);
  }
  return others;
}

// Returns the places that differ from the wanted one in the device or in the precision, but not in both.
std::set<DevicePrecision> similar_places(const Wanted& wanted) {
  std::set<DevicePrecision> places;
  for (const Attained& one : wanted.known) {
    if ((one.place.device == wanted.place.device) != (one.place.precision == wanted.place.precision))
      places.insert(one.place);
  }
  return places;
}

// The three rules of compute_roofline(). Of a network at a place, the entry whose size, then batch, is nearest by ratio
// counts, but never the wanted entry itself. Empty if nothing is known.
std::optional<Efficiency> by_own_network(const Wanted& wanted) {
  const Attained* const one = nearest(wanted, wanted.place, wanted.entry.model);
  if (one == nullptr) return std::nullopt;
  return Efficiency{.value = one->efficiency, .basis = basis_words(*one)};
}

// Returns the median over all pairs of another network and a similar place: the network's ratio to the other one is
// taken to be the same at both places.
std::optional<Efficiency> by_proportion(const Wanted& wanted) {
  std::vector<double> efficiencies;
  std::set<std::string> networks;
  std::set<std::string> used;
  for (const Attained* here : other_networks(wanted)) {
    for (const DevicePrecision& place : similar_places(wanted)) {
      const Attained* const own = nearest(wanted, place, wanted.entry.model);
      const Attained* const other = nearest(wanted, place, here->entry->model);
      if (own == nullptr || other == nullptr) continue;
      efficiencies.push_back(here->efficiency * own->efficiency / other->efficiency);
      networks.insert(basis_words(*here));
      used.insert(place.words());
    }
  }
  if (efficiencies.empty()) return std::nullopt;
  return Efficiency{.value = measure::median(efficiencies),
                    .basis = fmt::format("{}, to which {} stands as on {}", fmt::join(networks, " and "),
                                         wanted.entry.model, fmt::join(used, " and "))};
}

std::optional<Efficiency> by_other_networks(const Wanted& wanted) {
  std::vector<double> efficiencies;
  std::vector<std::string> words;
  for (const Attained* one : other_networks(wanted)) {
    efficiencies.push_back(one->efficiency);
    words.push_back(basis_words(*one));
  }
  if (efficiencies.empty()) return std::nullopt;
  return Efficiency{.value = measure::median(efficiencies), .basis = fmt::format("{}", fmt::join(words, " and "))};
}

// ---- Entries and checks

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

std::string rate_cell(const std::optional<double>& images_per_s) {
  return images_per_s ? rate_text(*images_per_s) : "";
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
    table.rows.push_back({std::to_string(one.entry.batch_size), rate_cell(one.entry.images_per_s),
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
                          rate_cell(check.entry.images_per_s), fmt::format("{:.3f}", check.efficiency),
                          rate_cell(check.by_own_network), misfit_percent(check, check.by_own_network),
                          rate_cell(check.by_proportion), misfit_percent(check, check.by_proportion),
                          rate_cell(check.by_other_networks), misfit_percent(check, check.by_other_networks)});
  }
  return report::fitted_text(table, width, "--format json");
}

Json roofline_check_to_json(const RooflineCheck& check) {
  return {{"model", check.entry.model},
          {"image_size", check.entry.image_size},
          {"precision", to_string(check.entry.precision)},
          {"batch_size", check.entry.batch_size},
          {"images_per_s", check.entry.images_per_s},
          {"efficiency", check.efficiency},
          {"computed_by_own_network_images_per_s", or_null(check.by_own_network)},
          {"computed_by_proportion_images_per_s", or_null(check.by_proportion)},
          {"computed_by_other_networks_images_per_s", or_null(check.by_other_networks)}};
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
  Roofline result{.profile = profile, .entries = {}, .checks = check_sourced(profile, known)};
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
      {"chexbench_version", CHEXBENCH_VERSION},
      {"profile", roofline.profile.name},
      {"device", roofline.profile.device},
      {"entries", Json::array()},
      {"checks", list_of(roofline.checks, roofline_check_to_json)},
      {"median_misfit_by_own_network", or_null(median_misfit(roofline.checks, &RooflineCheck::by_own_network))},
      {"median_misfit_by_other_networks", or_null(median_misfit(roofline.checks, &RooflineCheck::by_other_networks))}};
  for (const RooflineEntry& one : roofline.entries) {
    Json& entry = object["entries"].emplace_back(Json::parse(spec::entry_json(one.entry)));
    entry["efficiency"] = one.efficiency;
    entry["memory_bound_share"] = one.memory_bound_share;
  }
  return indented_json(object);
}

}  // namespace chexbench::verbs
