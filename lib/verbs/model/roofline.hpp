// Computes how fast a device trains a network for which no figure is published: the roofline of the network's layers
// (model/roofline.hpp) divided by the efficiency that published figures of the same device reach.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/text_table.hpp"
#include "spec/profile.hpp"

namespace chexbench::verbs {

// The request of `chexbench model NAME --roofline PROFILE`.
struct RooflineRequest {
  std::string model;
  int image_size = 224;  // in pixels
  spec::Precision precision = spec::Precision::f32;
  std::vector<int> batch_sizes{64};
};

// A computed entry.
struct RooflineEntry {
  spec::ProfileEntry entry;       // with `computed` set, and the method in `source`
  double efficiency = 0;          // the assumed share of the roofline
  double memory_bound_share = 0;  // of the roofline's time: parts in which memory takes longer than arithmetic
};

// A sourced entry and the roofline's predictions for it, in images/s, with efficiencies from other entries only. Each
// is empty if there are no such entries.
struct RooflineCheck {
  spec::ProfileEntry entry;
  double efficiency = 0;                    // reached by the entry
  std::optional<double> by_own_network;     // from another entry of the same network
  std::optional<double> by_proportion;      // from other networks, by their ratio to this one elsewhere
  std::optional<double> by_other_networks;  // from other networks
};

// The result for one network on one device.
struct Roofline {
  spec::AcceleratorProfile profile;
  std::vector<RooflineEntry> entries;  // one for each batch size
  std::vector<RooflineCheck> checks;   // one for each sourced entry of the profile whose roofline is known
};

// Computes the entries and checks the method. An efficiency comes from sourced entries (not computed, without
// communication); those of a network at a place, which is a device and a precision, are represented by the one whose
// size, then batch, is nearest, and an entry never counts for itself. The efficiency is the first known of these:
// - that of the same network at this place;
// - by proportion: the median, over pairs of another network m and a place q where both are known, of
//   e(m, here) e(network, q) / e(m, q); q differs from this place in the device (one of `others`) or in the precision,
//   but not in both;
// - the median of the other networks at this place.
// A pure function.
// @throws SpecError if the network is unknown or the image too small, or if the profile gives no peak rate or no
// sourced entry for the precision
Roofline compute_roofline(const spec::AcceleratorProfile& profile, const RooflineRequest& request,
                          std::span<const spec::AcceleratorProfile> others = {});

// Returns all built-in profiles, the `others` of the program.
std::vector<spec::AcceleratorProfile> built_in_profiles();

// Returns the median over the checks of the factor by which computed and sourced images/s differ, at least 1; empty if
// nothing could be checked.
std::optional<double> median_misfit(const std::vector<RooflineCheck>& checks,
                                    std::optional<double> RooflineCheck::*computed);

// Returns plain text for people: the results, entries to copy into the profile, and the check. Its tables are at most
// `width` wide where possible.
std::string roofline_table(const Roofline& roofline, const report::LineWidth& width = {});
// Returns one JSON object for programs, with units in its keys; undefined values are null.
std::string roofline_json(const Roofline& roofline);

}  // namespace chexbench::verbs
