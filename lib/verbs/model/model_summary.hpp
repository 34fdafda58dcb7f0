// What `chexbench model` tells of a network: its layers, and what they hold and compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chexbench::verbs {

// One layer and its output for one image.
struct ModelLayer {
  std::string name;  // the prefix of its parameters' names; empty where it has none
  std::string kind;  // "convolution", "max_pool", ...
  int channels = 0;
  int height = 0;
  int width = 0;
  std::int64_t parameters = 0;
  double forward_flops = 0;           // a multiply-add counts two
  std::int64_t activation_bytes = 0;  // of its output in f32
};

struct ModelSummary {
  std::string chexbench_version;
  std::string name;
  int image_size = 0;
  std::vector<ModelLayer> layers;

  std::int64_t parameters() const;
  double forward_flops() const;
  // To train one image: forward, and the gradients of data and of weights, each of which costs the same.
  double training_flops() const { return 3 * forward_flops(); }
  // Every layer's output once, as a framework without fusion keeps them.
  std::int64_t activation_bytes() const;
  // What each rank sends and receives as gradients, f32.
  std::int64_t gradient_bytes() const { return parameters() * 4; }
};

// For people: a row a layer, totals below.
std::string model_table(const ModelSummary& network);
// For programs: one object, units in its keys.
std::string model_json(const ModelSummary& network);

}  // namespace chexbench::verbs
