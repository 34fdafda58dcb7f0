// The smooth part of a synthetic chest X-ray: body, lungs, heart, ribs, and what each finding adds.
#pragma once

#include <vector>

#include "dataset/make/synth_pixels.hpp"

namespace chexbench::dataset {

// Brightness, about 0..255, at `side` x `side` points that span the image, row by row.
std::vector<float> draw_anatomy(const ChestScene& scene, int side);

}  // namespace chexbench::dataset
