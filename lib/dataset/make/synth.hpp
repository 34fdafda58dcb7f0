// A synthetic data set that looks to a pipeline as NIH ChestX-ray14 does: file sizes, row filters, zlib settings, files
// a patient, label frequencies; with findings that a network can learn, because they stand in the pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

struct SynthOptions {
  std::string directory;
  int images = 0;   // 1 or more
  int size = 1024;  // side in pixels, 32..8192
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: one a usable core
};

struct SynthResult {
  std::uint64_t images = 0;
  std::uint64_t patients = 0;
  std::uint64_t written = 0;  // the others were there already, from an interrupted run of the same set
  std::uint64_t bytes = 0;    // of all image files
  double seconds = 0;
};

// One planned image: its row in the table and how it is drawn and stored.
struct SynthImage {
  std::string name;
  std::uint32_t patient = 0;
  int follow_up = 0;
  LabelBits labels;
  int age_years = 0;
  char sex = 'M';
  bool frontal_pa = true;  // else AP
  bool test = false;       // belongs to test_list.txt
  std::uint64_t patient_seed = 0;
  std::uint64_t image_seed = 0;
};

// The rows of a set. A function of (images, seed) alone. Frequencies of findings, images a patient and share of the
// test list as in the 112,120 published rows; patients never stand in both lists.
std::vector<SynthImage> plan_synthetic_set(int images, std::uint64_t seed);

// Writes DIR/images/*.png, Data_Entry_2017.csv, train_val_list.txt, test_list.txt and synthetic.txt (what made the
// set). The pixels are a function of the options on any machine and at any number of threads; the files' bytes are too,
// for one version of zlib. The table comes last: an interrupted set is none, and the same command finishes it.
// @throws SpecError: images or size out of range; OutputError: DIR holds another data set, or cannot be written
SynthResult write_synthetic_set(const SynthOptions& options);

}  // namespace chexbench::dataset
