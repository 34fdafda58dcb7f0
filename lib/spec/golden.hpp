// Helpers that the readers of golden files share. Private to this folder: it includes the JSON library.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/printable.hpp"

namespace chexbench::spec {

// Returns the text of the golden file at `path`. `example` names a file of the same kind in tests/golden, for the
// message.
// @throws DataError if it cannot be read
std::string read_golden_file(const std::string& path, const std::string& example);

// Reads the golden file at `path` and returns its JSON, converted by `convert`.
// @throws DataError if it cannot be read, is not JSON, or `convert` refuses it; the message names the file
template <typename Convert>
auto load_golden(const std::string& path, const std::string& example, Convert convert) {
  const std::string text = read_golden_file(path, example);
  const auto refusal = [&](const std::exception& error) {
    return DataError(fmt::format("{}: not a golden file such as {}: {}", path, example, printable(error.what(), 400)));
  };
  try {
    return convert(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw refusal(error);
  } catch (const DataError& error) {
    throw refusal(error);
  }
}

// The values that are accepted for an integer, both ends included.
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Returns the whole number in `json`, which errors call `name`. The range protects the caller from absurd sizes and
// from indices outside an array.
// @throws DataError if it is not a whole number within `range`
std::int64_t golden_integer(const nlohmann::json& json, const std::string& name, IntegerRange range);

// Does the same for each element of a list. @throws DataError as golden_integer() does
template <typename T>
std::vector<T> golden_integers(const nlohmann::json& list, const std::string& name, IntegerRange range) {
  std::vector<T> values;
  for (const nlohmann::json& one : list) values.push_back(static_cast<T>(golden_integer(one, name, range)));
  return values;
}

// Reads the golden values of the input side: expected results of decoding, resizing and interleaving.

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

// Reads the golden values of training: expected results of a network's forward, backward and first updates.

// The gradient of one parameter: its norm and some of its entries.
struct GradientGolden {
  std::vector<std::int64_t> shape;
  double l2 = 0;                   // the L2 norm of all entries
  std::vector<std::size_t> index;  // positions of the sampled entries, in PyTorch's order
  std::vector<double> value;       // the entries at `index`
};

// A running mean or variance.
struct BufferGolden {
  double l2 = 0;              // the L2 norm of all entries
  std::vector<double> first;  // the first entries
};

// The golden values of one network. Its weights and its batch come from the formula of model/weights.hpp with `salt`,
// so the file contains only results.
struct EngineGolden {
  std::string model;  // the network's name
  std::string salt;
  int image_size = 0;                               // height and width of the images, in pixels
  int batch = 0;                                    // images
  std::int64_t parameters = 0;                      // the number of trained values
  std::vector<double> logits;                       // [batch, 14], in training mode
  double loss = 0;                                  // of the first forward
  std::map<std::string, GradientGolden> gradients;  // by parameter name
  std::map<std::string, BufferGolden> buffers;      // by buffer name, after one step
  std::vector<double> losses_adam;                  // of each step on the same batch, Adam, learning rate 1e-3
  std::vector<double> losses_sgd;                   // of each step on the same batch, SGD, rate 1e-2, momentum 0.9
};

// Reads the golden file at `path` (e.g. tests/golden/resnet50.json).
// @throws DataError if the file cannot be read or is not such a golden file
EngineGolden load_engine_golden(const std::string& path);

}  // namespace chexbench::spec
