// Renders the pixels of a synthetic chest X-ray: a smooth anatomy, one pattern for each finding, and noise.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

// The contents of one image.
struct ChestScene {
  std::uint64_t patient_seed = 0;  // decides the anatomy, which a patient's images share
  std::uint64_t image_seed = 0;    // decides the position, the exposure, the places of findings, and the noise
  LabelBits labels;                // in the order of nih_labels.hpp
};

// Writes `size` x `size` 8-bit gray pixels, row by row without padding, into `pixels`, whose memory is reused. The
// bytes are the same on any machine, because the arithmetic is only +, -, * and /, which IEEE 754 rounds the same way
// everywhere. Thread-safe.
void render_chest(const ChestScene& scene, int size, std::vector<std::uint8_t>& pixels);

// Draws the smooth part of a synthetic chest X-ray: body, lungs, heart, ribs, and the effect of each finding.

// Returns the brightness, about 0..255, at `side` x `side` points that span the image from edge to edge, row by row.
// `side` is at least 2. Thread-safe.
std::vector<float> draw_anatomy(const ChestScene& scene, int side);

}  // namespace chexbench::dataset
