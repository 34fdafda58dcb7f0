// Scores images with a trained network, and judges the scores by the labels of a data set.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "spec/safetensors.hpp"
#include "spec/trial_spec.hpp"
#include "verbs/evaluate/evaluation_result.hpp"

namespace chexbench::verbs {

struct EvaluateOptions {
  std::string checkpoint;              // path of a checkpoint, or of weights with torchvision's names
  std::string root;                    // of the data set; empty: single images
  std::string split = "test";          // of the data set
  std::vector<std::string> images;     // paths of single images; empty: a data set
  std::vector<std::string> overrides;  // keys of the spec
  bool ten_crop = false;
  int class_maps = 0;  // maps per single image, one per finding
  bool allow_shared_gpu = false;
};

// The network of a checkpoint and its settings, combined from options and checkpoint.
struct EvaluatedNetwork {
  spec::Safetensors weights;
  spec::TrialSpec spec;             // its engine is resolved
  std::vector<std::string> labels;  // that it was trained for; empty: not in the file
  int outputs = 0;                  // its number of outputs
  int epochs = 0;                   // that it was trained for; 0: unknown
};

// Reads the checkpoint's header and notes on the network, and applies the overrides to it. Builds nothing.
// @throws SpecError if options contradict each other or the checkpoint, or a setting is in neither
// @throws DataError if the file is missing, damaged, or does not match its network
EvaluatedNetwork read_network(const EvaluateOptions& options);

// Scores the images over all ranks. The result is filled on rank 0; elsewhere its rows and scores are empty.
// Collective over the world.
// @throws SpecError, DataError as read_network()
// @throws DataError if the labels of network and data set differ, an image is missing or cannot be read, or its output
// is not a number
// @throws as bench::evaluate()
EvaluationResult evaluate(comm::World& world, const EvaluateOptions& options);

}  // namespace chexbench::verbs
