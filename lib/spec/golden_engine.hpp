// Golden values of training: what a network's forward, backward and first updates must give.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chexbench::spec {

struct GradientGolden {
  std::vector<std::int64_t> shape;
  double l2 = 0;
  std::vector<std::size_t> index;  // of sampled entries, in PyTorch's order
  std::vector<double> value;
};

struct BufferGolden {
  double l2 = 0;
  std::vector<double> first;  // the first entries
};

// Weights and batch come from the formula of model/weights.hpp with `salt`.
struct EngineGolden {
  std::string model;
  std::string salt;
  int image_size = 0;
  int batch = 0;
  std::int64_t parameters = 0;
  std::vector<double> logits;  // [batch, 14], training mode
  double loss = 0;
  std::map<std::string, GradientGolden> gradients;  // by parameter name
  std::map<std::string, BufferGolden> buffers;      // after one step
  std::vector<double> losses_adam;                  // step by step on the same batch, learning rate 1e-3
  std::vector<double> losses_sgd;                   // learning rate 1e-2, momentum 0.9
};

// @throws DataError for a file that cannot be read or is no such golden file
EngineGolden load_engine_golden(const std::string& path);

}  // namespace chexbench::spec
