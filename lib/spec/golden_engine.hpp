// Reads the golden values of training: the results that a network's forward, backward and first updates must give.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chexbench::spec {

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
// so the file holds results only.
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
