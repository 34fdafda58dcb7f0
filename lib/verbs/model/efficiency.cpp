#include "verbs/model/efficiency.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "model/roofline.hpp"

namespace chexbench::verbs {
namespace {

int value_bytes(spec::Precision precision) {
  return precision == spec::Precision::fp16 || precision == spec::Precision::bf16 ? 2 : 4;
}

bool is_known(const std::string& network) {
  return std::ranges::find(model::network_names(), network) != model::network_names().end();
}

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

}  // namespace

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

double peak_compute_s(const spec::PeakRates& peaks, const spec::ProfileEntry& entry) {
  const PeakStep step = peak_step(peaks, entry);
  return step.layers_s + (entry.includes_update ? step.update_s : 0);
}

bool DevicePrecision::operator<(const DevicePrecision& other) const {
  return std::tie(device, precision) < std::tie(other.device, other.precision);
}

std::string DevicePrecision::words() const { return fmt::format("{} {}", device, to_string(precision)); }

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

}  // namespace chexbench::verbs
