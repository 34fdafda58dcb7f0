// Runs images through a network as it would be used: in evaluation mode, each image once, over all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "engine/epoch_training.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// Which parts of an image the network sees: all of it, or ten crops of it (ten_crop.hpp).
enum class Views { whole, ten_crop };

// What images are scored with. The references must outlive the call.
struct ScoringContext {
  const spec::Experiment& spec;
  const dataset::Dataset& images;
  engine::Engine& engine;  // must have an EpochTraining
  comm::Communicator& communicator;
  std::vector<int> cores;  // of this rank
  Views views = Views::whole;
  bool keeps_features = false;  // whole images and one rank only
};

// One image and what the network says of it.
struct ScoredExample {
  std::uint32_t image = 0;                      // index in Dataset::images
  std::vector<float> logits;                    // [views, labels], row-major
  std::vector<float> labels;                    // each 0, 1 or kIgnoredLabel
  std::optional<engine::FeatureMaps> features;  // of this image, if they are kept
};

// Returns on rank 0 all images that could be read, in the order of Dataset::images; nothing on other ranks. There are
// no random flips and crops. Batches are the same ones whatever the number of ranks (the images in their order, divided
// by training.batch_size), and ranks take them in turn, so the logits are the same to the bit, too; of shards, whose
// records have an order of their own, each rank batches its images in that order. Collective.
// @throws DataError or DeviceError as Pipeline::next()
// @throws SpecError if features shall be kept and the engine gives none out
// @throws DeviceError if the engine's device fails or a rank was lost
// @throws InterruptedError if a signal arrives
std::vector<ScoredExample> score_images(const ScoringContext& context);

}  // namespace chexbench::bench
