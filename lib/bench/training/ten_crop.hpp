// Ten views of an image: its four corners and its middle, each also mirrored, as torchvision's TenCrop has them.
#pragma once

#include "core/batch.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

inline constexpr int kCrops = 10;

// Returns the spec with images of the size that crops are cut from: 256 for crops of 224 (CheXNet by zoogzog,
// ChexnetTrainer.py), and in this ratio for others. Nothing else is cropped.
spec::TrialSpec ten_crop_input(spec::TrialSpec spec);

// Copies crop `crop` (0 to 9) of the valid images of `whole` to `part`, whose images are smaller and of the same type.
void copy_crop(Batch& whole, int crop, Batch& part);

}  // namespace chexbench::bench
