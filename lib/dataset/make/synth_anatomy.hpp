// Draws the smooth part of a synthetic chest X-ray: body, lungs, heart, ribs, and what each finding adds to them.
#pragma once

#include <vector>

#include "dataset/make/synth_pixels.hpp"

namespace chexbench::dataset {

// Returns the brightness, about 0..255, at `side` x `side` points that span the image from edge to edge, row by row.
// `side` is at least 2. Thread-safe.
std::vector<float> draw_anatomy(const ChestScene& scene, int side);

}  // namespace chexbench::dataset
