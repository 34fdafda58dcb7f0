// The result of `chexbench model`: a network's layers, with their parameters, FLOPs and activations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/weights.hpp"
#include "report/text_table.hpp"

namespace chexbench::verbs {

// One layer and its output for one image.
struct ModelLayer {
  std::string name;  // prefix of the names of its parameters; empty if it has none
  std::string kind;  // "convolution", "max_pool", ...
  int channels = 0;
  int height = 0;
  int width = 0;
  std::int64_t parameters = 0;
  double forward_flops = 0;           // a multiply-add counts as two
  std::int64_t activation_bytes = 0;  // of its output in f32
};

// All layers of a network. The totals below are for one image.
struct ModelSummary {
  std::string name;
  int image_size = 0;
  std::vector<ModelLayer> layers;
  std::vector<model::TensorInfo> tensors;  // parameters, then running statistics; by torchvision's names

  std::int64_t parameters() const;
  double forward_flops() const;
  // Training one image takes three times the FLOPs of forward: the gradients of data and those of weights cost as much
  // as forward each.
  double training_flops() const { return 3 * forward_flops(); }
  // Bytes of every layer's output, each counted once, kept by a framework without fusion.
  std::int64_t activation_bytes() const;
  // Bytes of all gradients of a rank in f32.
  std::int64_t gradient_bytes() const { return parameters() * 4; }
};

// Returns plain text for people: one row for each layer, and the totals below. The table is at most `width` wide where
// possible.
std::string model_table(const ModelSummary& network, const report::LineWidth& width = {});
// Returns one JSON object for programs, with units in its keys.
std::string model_json(const ModelSummary& network);

// Returns the summary of the network `name` for images of image_size x image_size, from its graph. A pure function.
// @throws SpecError if the name is unknown (the message suggests the nearest one), or the image size is too small for
// it
ModelSummary summarize_model(const std::string& name, int image_size);

}  // namespace chexbench::verbs
