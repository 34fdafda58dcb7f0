// Makes a synthetic data set of exclusive classes in the form of TensorFlow's shards of ImageNet: colour JPEGs in
// TFRecords with image/class/label from 1 on. A network can learn the classes, because each has its own stripes.
#pragma once

#include <cstdint>

#include "dataset/make/synth.hpp"

namespace chexbench::dataset {

struct SynthClassesOptions {
  std::string directory;
  int images = 0;   // at least one of each class
  int classes = 0;  // 2 to 10000
  int size = 400;   // longer side of an image in pixels, 32..8192; the other one is three quarters of it
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: one per usable core
};

// Writes DIR/train-00000-of-NNNNN and so on, and DIR/validation-00000-of-NNNNN with a tenth of the images, of all
// classes alike. The pixels depend only on the options.
// @throws SpecError if an option is out of range
// @throws DataError if the directory is a URL, or this build cannot write JPEGs
// @throws OutputError if the directory exists and is not empty, or cannot be written
// @throws InterruptedError after a signal
SynthResult write_synthetic_classes(const SynthClassesOptions& options);

}  // namespace chexbench::dataset
