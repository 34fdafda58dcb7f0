// Golden values of the data path: what decode, resize and interleave must give.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace chexbench::spec {

// One resize of one image to 224x224, of pixel/255.
struct ResizeGolden {
  struct Place {
    int row = 0;
    int column = 0;
    double value = 0;
  };
  double mean = 0;
  double standard_deviation = 0;
  std::vector<Place> places;
};

struct ImageGolden {
  std::string gray_sha256;  // of the 8-bit gray pixels, rows packed
  ResizeGolden bilinear;
  ResizeGolden area;
};

// By file name. @throws DataError for a file that cannot be read or is no such golden file
std::map<std::string, ImageGolden> load_preprocess_golden(const std::string& path);

// The order in which tf.data's deterministic interleave delivers records; an element is 100 x file + record.
struct InterleaveGolden {
  std::vector<int> file_lengths;
  int cycle_length = 1;
  int block_length = 1;
  std::vector<int> order;
};

// @throws DataError as above
std::vector<InterleaveGolden> load_interleave_golden(const std::string& path);

}  // namespace chexbench::spec
