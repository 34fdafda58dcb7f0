// Accelerator profiles: how long a training step takes on a device, as measured or published. The engine
// emulated:<profile> takes its times from them. See configs/accelerators/README.md for the JSON.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// The speed for one combination of network, image size, precision and batch.
struct ProfileEntry {
  std::string model;                     // the network's name
  int image_size = 0;                    // in pixels
  Precision precision = Precision::f32;  // of the arithmetic
  int batch_size = 0;                    // images of the step that was measured
  double images_per_s = 0;               // of one accelerator
  // The median absolute deviation of images_per_s over repeats, if there were any.
  std::optional<double> images_per_s_mad = std::nullopt;
  double backward_share = 0;            // backward's share of compute_s(); parse_profile() sets 2/3 unless it is given
  double update_s = 0;                  // seconds of the optimizer's update; 0 if includes_update
  bool includes_update = true;          // whether images_per_s includes the update; if not, update_s is added
  bool includes_communication = false;  // whether images_per_s includes an all-reduce of gradients
  bool computed = false;                // images_per_s was computed, not measured; see `source`
  // Bytes per record of the benchmark that defines this workload: images_per_s is then the rate that it demands, not
  // the rate that the accelerator reaches.
  std::optional<double> record_bytes = std::nullopt;
  std::string source;  // where the figure comes from
  // The two measured batches between which find_entry() interpolated; empty for an entry of a file.
  std::optional<std::pair<int, int>> between = std::nullopt;

  // Seconds of a step of `batch_size` images, without update_s.
  double compute_s() const { return batch_size / images_per_s; }
};

// The peak rates of a device, from which `chexbench model --roofline` computes entries.
struct PeakRates {
  std::map<Precision, double> flops_per_s;  // at least one; a multiply-add counts as two
  double bytes_per_s = 0;                   // of its memory
  std::string source;                       // where the figures come from
};

// One device. Entries of one model, image size and precision have different batches and agree in what they include.
struct AcceleratorProfile {
  std::string name;    // "v100"
  std::string device;  // the accelerator, in words
  std::vector<ProfileEntry> entries;
  std::optional<PeakRates> peaks = std::nullopt;  // empty if not in the profile
};

// Returns the names of the built-in profiles, sorted. Thread-safe.
std::span<const std::string> profile_names();

// Returns a built-in profile by its name, or that of a file by its path (which contains a '/' or ends in ".json").
// @throws SpecError if the name is unknown (with the nearest one), or if the file cannot be read or is not a profile
AcceleratorProfile load_profile(const std::string& name_or_path);

// Parses the JSON of a profile; `where` names the text in errors.
// @throws SpecError if it is not a valid profile; the message names the JSON path and the expected value
AcceleratorProfile parse_profile(const std::string& text, const std::string& where);

// Returns the command that measures the network's steps on a machine and writes them as a profile.
std::string calibrate_command(const ModelSpec& model, Precision precision);

// Returns an entry as JSON, indented by two spaces, as in a profile's list of entries.
std::string entry_json(const ProfileEntry& entry);

// Returns the profile as JSON with a newline at the end; parse_profile() restores the same profile.
std::string to_json(const AcceleratorProfile& profile);

// Returns the entry for `batch_size` images of a model (its name and image size) and a precision. Between two measured
// batches it is a new entry, whose step times are interpolated linearly, and which is computed if one of the two is.
// Outside the measured batches it is the nearest entry unchanged, with its own batch_size; the caller must scale it and
// report that.
// @throws SpecError if the profile has no entry of that model, image size and precision; the message lists what it has
ProfileEntry find_entry(const AcceleratorProfile& profile, const ModelSpec& model, Precision precision, int batch_size);

}  // namespace chexbench::spec
