#include "verbs/model/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <set>
#include <tuple>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "model/roofline.hpp"

namespace chexbench::verbs {
namespace {

int value_bytes(spec::Precision precision) {
  return precision == spec::Precision::fp16 || precision == spec::Precision::bf16 ? 2 : 4;
}

// What a step takes at the peaks of a device.
struct PeakStep {
  double layers_s = 0;
  double update_s = 0;
  double memory_bound_s = 0;  // the part of both in which memory takes longer than arithmetic
};

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

// Returns the seconds at the peaks of what the entry's images/s contain.
double peak_compute_s(const spec::PeakRates& peaks, const spec::ProfileEntry& entry) {
  const PeakStep step = peak_step(peaks, entry);
  return step.layers_s + (entry.includes_update ? step.update_s : 0);
}

// A device and a precision.
struct Place {
  std::string device;  // the profile's name
  spec::Precision precision = spec::Precision::f32;

  auto operator<=>(const Place&) const = default;
  std::string words() const { return fmt::format("{} {}", device, to_string(precision)); }
};

// The share of the roofline that a sourced entry reached.
struct Attained {
  const spec::ProfileEntry* entry = nullptr;
  Place place;
  double efficiency = 0;
};

bool is_known(const std::string& network) {
  return std::ranges::find(model::network_names(), network) != model::network_names().end();
}

// Adds what the sourced entries of the profile reached, in each precision that has a peak rate.
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

// An efficiency, and the words that say where it is from.
struct Efficiency {
  double value = 0;
  std::string basis;
};

// Where an efficiency is wanted, and all that are known.
struct Wanted {
  const spec::ProfileEntry& entry;
  Place place;
  const std::vector<Attained>& known;
};

// Returns the entry of a network at a place whose size, then batch, is nearest to the wanted one's by ratio, but not
// the wanted entry itself; null if there is none.
const Attained* nearest(const Wanted& wanted, const Place& place, const std::string& network) {
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

std::optional<Efficiency> by_own_network(const Wanted& wanted) {
  const Attained* const one = nearest(wanted, wanted.place, wanted.entry.model);
  if (one == nullptr) return std::nullopt;
  return Efficiency{.value = one->efficiency, .basis = basis_words(*one)};
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

// Returns the places that differ from the wanted one in the device or in the precision, but not in both.
std::set<Place> similar_places(const Wanted& wanted) {
  std::set<Place> places;
  for (const Attained& one : wanted.known) {
    if ((one.place.device == wanted.place.device) != (one.place.precision == wanted.place.precision))
      places.insert(one.place);
  }
  return places;
}

// Returns the median over all pairs of another network and a similar place: the network is to the other one here what
// it is there.
std::optional<Efficiency> by_proportion(const Wanted& wanted) {
  std::vector<double> efficiencies;
  std::set<std::string> networks;
  std::set<std::string> used;
  for (const Attained* here : other_networks(wanted)) {
    for (const Place& place : similar_places(wanted)) {
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
