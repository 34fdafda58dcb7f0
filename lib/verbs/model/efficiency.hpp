// The share of the roofline that published speeds reach, and the share to expect of unpublished ones. Pure functions,
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/profile.hpp"

namespace chexbench::verbs {

// The time of a step at the peaks of a device, in seconds.
struct PeakStep {
  double layers_s = 0;
  double update_s = 0;
  double memory_bound_s = 0;  // the part of both in which memory takes longer than arithmetic
};

// Returns the roofline of the entry's network, size, precision and batch.
// @throws SpecError if the network is unknown or the image too small
PeakStep peak_step(const spec::PeakRates& peaks, const spec::ProfileEntry& entry);

// Returns the seconds at the peaks for the work in the entry's images/s: the layers, and the update if it is included.
// @throws SpecError as peak_step() does
double peak_compute_s(const spec::PeakRates& peaks, const spec::ProfileEntry& entry);

// A device and a precision.
struct DevicePrecision {
  std::string device;  // the profile's name
  spec::Precision precision = spec::Precision::f32;

  bool operator==(const DevicePrecision&) const = default;
  bool operator<(const DevicePrecision& other) const;
  std::string words() const;  // "k80 f32"
};

// The share of the roofline that a sourced entry reached. `entry` points into the profile, which must outlive it.
struct Attained {
  const spec::ProfileEntry* entry = nullptr;
  DevicePrecision place;
  double efficiency = 0;
};

// Adds the efficiencies of the profile's sourced entries, in each precision that has a peak rate. Leaves out entries
// that were computed or contain communication, and networks that chexbench does not have.
void add_attained(const spec::AcceleratorProfile& profile, std::vector<Attained>& all);

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

// The three rules of compute_roofline(). Of a network at a place, the entry whose size, then batch, is nearest by ratio
// counts, but never the wanted entry itself. Empty if nothing is known.
std::optional<Efficiency> by_own_network(const Wanted& wanted);
std::optional<Efficiency> by_proportion(const Wanted& wanted);
std::optional<Efficiency> by_other_networks(const Wanted& wanted);

}  // namespace chexbench::verbs
