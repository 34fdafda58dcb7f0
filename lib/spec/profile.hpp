// Accelerator profiles: how long a training step takes on a device, measured there or taken from a publication. The
// engine emulated:<profile> lives off them. configs/accelerators/README.md describes the JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::spec {

// What one profile says of one combination of network, image size and precision.
struct ProfileEntry {
  std::string model;
  int image_size = 0;
  Precision precision = Precision::f32;
  int batch_size = 0;           // at which it was measured
  double images_per_s = 0;      // of one accelerator, the whole step
  double backward_share = 0;    // of the step's time without the update; 2/3 unless given
  double update_s = 0;          // of images_per_s's step: the optimizer's part, where the source tells it apart
  bool includes_update = true;  // false: `update_s` comes on top
  bool includes_communication = false;
  std::string source;
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

// The entry for a model, image size and precision. @throws SpecError naming what the profile has instead
const ProfileEntry& find_entry(const AcceleratorProfile& profile, const ModelSpec& model, Precision precision);

}  // namespace chexbench::spec
