// Makes a synthetic data set that behaves like NIH ChestX-ray14 in a pipeline: in file sizes, row filters, zlib
// settings, files per patient and label frequencies. A network can learn its findings, because the pixels show them.
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
  LabelBits labels;   // in the order of nih_labels.hpp
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

}  // namespace chexbench::dataset
