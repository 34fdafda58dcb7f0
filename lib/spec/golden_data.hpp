// Reads the golden values of the input side: the results that decoding, resizing and interleaving must give.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace chexbench::spec {

// The result of resizing one image to 224x224 by one method. Values are gray values / 255.
struct ResizeGolden {
  // One sampled pixel of the result.
  struct Place {
    int row = 0;
    int column = 0;
    double value = 0;
  };
  double mean = 0;                // over all pixels of the result
  double standard_deviation = 0;  // over all pixels of the result
  std::vector<Place> places;      // sampled pixels
};

// The golden values of one image.
struct ImageGolden {
  std::string gray_sha256;  // SHA-256 of the decoded 8-bit gray pixels, rows packed
  ResizeGolden bilinear;
  ResizeGolden area;
};

// Reads the golden file at `path` (tests/golden/preprocess.json). The result is keyed by the images' file names.
// @throws DataError if the file cannot be read or is not such a golden file
std::map<std::string, ImageGolden> load_preprocess_golden(const std::string& path);

// The order in which tf.data's deterministic interleave delivers records.
struct InterleaveGolden {
  std::vector<int> file_lengths;  // records per file
  int cycle_length = 1;           // files that are open at once
  int block_length = 1;           // consecutive records from one file
  std::vector<int> order;         // the records in order, each as 100 x file + record
};

// Reads all cases of the golden file at `path` (tests/golden/interleave.json).
// @throws DataError if the file cannot be read or is not such a golden file
std::vector<InterleaveGolden> load_interleave_golden(const std::string& path);

}  // namespace chexbench::spec
