// Makes synthetic data sets, which a network can learn, because the pixels show what the labels say: X-rays that behave
// like NIH ChestX-ray14 in a pipeline (in file sizes, row filters, zlib settings, files per patient and label
// frequencies), and exclusive classes in the form of TensorFlow's shards of ImageNet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

struct SynthOptions {
  std::string directory;
  int images = 0;   // at least 1
  int size = 1024;  // side of an image in pixels, 32..8192
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: one per usable core
};

struct SynthResult {
  std::uint64_t images = 0;
  std::optional<std::uint64_t> patients;  // empty if images have no patients
  std::uint64_t written = 0;  // images; the others were there already, from an interrupted run of the same set
  std::uint64_t bytes = 0;    // of all image files
  double seconds = 0;         // wall-clock time
  std::string kind;           // the images, for people: "synthetic chest X-rays of 14 patients"
  std::string form;           // of the files, likewise: "PNGs of 1024 x 1024 pixels"
};

// One planned image: its row in the table and how it is drawn and stored.
struct SynthImage {
  std::string name;
  std::uint32_t patient = 0;
  int follow_up = 0;  // number of the image among the patient's, from 0
  LabelBits labels;   // in the order of kNihLabelNames
  int age_years = 0;
  char sex = 'M';          // M or F
  bool frontal_pa = true;  // view position PA, else AP
  bool test = false;       // whether it is in test_list.txt, else in train_val_list.txt
  std::uint64_t patient_seed = 0;
  std::uint64_t image_seed = 0;
};

// Returns the rows of a set in the order of names. They depend only on (images, seed). The frequencies of findings, the
// images per patient and the share of the test list are those of the 112,120 published rows. No patient is in both
// lists. Thread-safe.
std::vector<SynthImage> plan_synthetic_set(int images, std::uint64_t seed);

// Writes DIR/images/*.png, Data_Entry_2017.csv, train_val_list.txt, test_list.txt and synthetic.txt, which records the
// options. The pixels depend only on the options, on any machine and with any number of threads; so do the files' bytes
// for one version of zlib. The table is written last, so an interrupted set is not a data set yet, and the same command
// finishes it.
// @throws SpecError if the number of images or their size is out of range
// @throws DataError if the directory is a URL, or its synthetic.txt cannot be read
// @throws OutputError if the directory contains another data set or cannot be written
// @throws InterruptedError after a signal
SynthResult write_synthetic_set(const SynthOptions& options);

// A set of exclusive classes: color JPEGs in TFRecords with image/class/label from 1 on. Each class has its own
// stripes.
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

// The contents of one synthetic chest X-ray: a smooth anatomy, one pattern for each finding, and noise.
struct ChestScene {
  std::uint64_t patient_seed = 0;  // decides the anatomy, which a patient's images share
  std::uint64_t image_seed = 0;    // decides the position, the exposure, the places of findings, and the noise
  LabelBits labels;                // in the order of kNihLabelNames
};

// Writes `size` x `size` 8-bit gray pixels, row by row without padding, into `pixels`, whose memory is reused. The
// bytes are the same on any machine, because the arithmetic is only +, -, * and /, which IEEE 754 rounds the same way
// everywhere. Thread-safe.
void render_chest(const ChestScene& scene, int size, std::vector<std::uint8_t>& pixels);

// Draws the smooth part of an X-ray: body, lungs, heart, ribs, and the effect of each finding. Returns the brightness,
// about 0..255, at `side` x `side` points that span the image from edge to edge, row by row. `side` is at least 2.
// Thread-safe.
std::vector<float> draw_anatomy(const ChestScene& scene, int side);

}  // namespace chexbench::dataset
