// The pixels of a synthetic chest X-ray: smooth anatomy, one pattern for each finding, noise.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

// What one image shows. Patients keep their anatomy from image to image.
struct ChestScene {
  std::uint64_t patient_seed = 0;
  std::uint64_t image_seed = 0;
  LabelBits labels;
};

// `size` x `size` 8-bit gray pixels, packed, into `pixels`. Uses +, -, *, / and square roots alone, which IEEE 754
// rounds alike everywhere: the same bytes on any machine. Thread-safe.
void render_chest(const ChestScene& scene, int size, std::vector<std::uint8_t>& pixels);

}  // namespace chexbench::dataset
