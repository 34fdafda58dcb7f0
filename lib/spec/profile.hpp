// Accelerator profiles: how long a training step takes on a device, measured there or taken from a publication. The
// engine emulated:<profile> lives off them. configs/accelerators/README.md describes the JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::spec {

// What one profile says of one combination of network, image size, precision and batch.
struct ProfileEntry {
  std::string model;
  int image_size = 0;
  Precision precision = Precision::f32;
  int batch_size = 0;       // at which it was measured
  double images_per_s = 0;  // of one accelerator, the whole step
  // Of the repeats that `images_per_s` was taken from, where it was measured so.
  std::optional<double> images_per_s_mad = std::nullopt;
  double backward_share = 0;    // of the step's time without the update; 2/3 unless given
  double update_s = 0;          // of images_per_s's step: the optimizer's part, where the source tells it apart
  bool includes_update = true;  // false: `update_s` comes on top
  bool includes_communication = false;
  std::string source;
  // The measured batches on either side, where this entry was made by find_entry() and is in no file.
  std::optional<std::pair<int, int>> between = std::nullopt;

  // Seconds of a step of `batch_size` images, without what `update_s` is for.
  double compute_s() const { return batch_size / images_per_s; }
};

struct AcceleratorProfile {
  std::string name;    // "v100"
  std::string device;  // in words
  std::vector<ProfileEntry> entries;
};

// The profiles that are built into the binary, by name.
std::span<const std::string> profile_names();

// A built-in profile by its name, or a file's by its path (it contains a '/' or ends in ".json").
// @throws SpecError for an unknown name (with the nearest) or a file that cannot be read or is no profile
AcceleratorProfile load_profile(const std::string& name_or_path);

// `where` names the text in error messages. @throws SpecError naming the JSON path and what was expected there
AcceleratorProfile parse_profile(const std::string& text, const std::string& where);

// The profile as a file's text, newline at the end; parse_profile() of it gives the same profile.
std::string to_json(const AcceleratorProfile& profile);

// The time for `batch_size` images of a model, image size and precision: the entry of that batch, or one between the
// two nearest batches, step times interpolated linearly. Outside the measured batches it is the nearest entry as it
// is, with its own batch_size, for the caller to scale and to say so.
// @throws SpecError naming what the profile has instead of that model, image size and precision
ProfileEntry find_entry(const AcceleratorProfile& profile, const ModelSpec& model, Precision precision, int batch_size);

}  // namespace chexbench::spec
