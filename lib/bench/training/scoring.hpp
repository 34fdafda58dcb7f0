// Runs images through a network for inference: in evaluation mode, each image once, over all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/batch.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "spec/safetensors.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Which parts of an image the network sees: all of it, or ten crops of it.
enum class Views { whole, ten_crop };

// The size of a class activation map: that of the network's last feature maps.
struct MapSize {
  int rows = 0;
  int columns = 0;

  std::size_t places() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

// The network and settings for scoring images. The references must outlive the call.
struct ScoringContext {
  const spec::TrialSpec& spec;
  const dataset::Dataset& images;
  engine::Engine& engine;  // must have an EpochTraining
  comm::Communicator& communicator;
  std::vector<int> cores;  // of this rank
  Views views = Views::whole;
  std::optional<MapSize> maps;  // their size per label, if the engine returns class activation maps
};

// One image and the network's output for it.
struct ScoredExample {
  std::uint32_t image = 0;    // index in Dataset::images
  std::vector<float> logits;  // [views, labels], row-major
  std::vector<float> labels;  // each 0 or 1
  // With class activation maps:
  std::vector<float> maps;         // [labels, rows, columns]; the mean of a map is its label's logit
  std::vector<std::uint8_t> seen;  // gray values of the network's input, [image_size, image_size]
};

// Returns on rank 0 all images that could be read, in the order of Dataset::images; nothing on other ranks. There are
// no random flips and crops. Batches do not depend on the number of ranks (the images in their order, divided by
// training.batch_size), and ranks take them round robin, so the logits are bit-identical, too; with shards, whose
// records have their own order, each rank batches its images in that order. Collective.
// @throws DataError or DeviceError as Pipeline::next()
// @throws DeviceError if the engine's device fails or a rank was lost
// @throws InterruptedError if a signal arrives
std::vector<ScoredExample> score_images(const ScoringContext& context);

// Ten views of an image: its four corners and its middle, each also mirrored, as in torchvision's TenCrop.

inline constexpr int kCrops = 10;

// Returns the spec with images of the size that crops are cut from: 256 for crops of 224 (CheXNet by zoogzog,
// ChexnetTrainer.py), and in this ratio for others. It disables all other cropping.
spec::TrialSpec ten_crop_input(spec::TrialSpec spec);

// Copies crop `crop` (0 to 9) of the valid images of `whole` to `part`, whose images are smaller and of the same type.
void copy_crop(Batch& whole, int crop, Batch& part);

// The images to score, and the network. The references must outlive the call.
struct EvaluationRequest {
  const spec::TrialSpec& spec;       // its engine is resolved
  const spec::Safetensors& weights;  // parameters and running statistics
  const dataset::Dataset& images;
  Views views = Views::whole;
  bool class_maps = false;        // on engine onednn only
  bool allow_shared_gpu = false;  // lets several ranks use one GPU
};

struct Evaluation {
  engine::EngineTraits engine;        // of this rank
  std::vector<ScoredExample> scored;  // on rank 0: all images that could be read, in their order
  std::optional<MapSize> maps;        // of the class activation maps, if requested
};

// Scores the images over all ranks. Collective over the world.
// @throws SpecError if the engine cannot evaluate, or as engine::make_engine() or model::class_map_network()
// @throws DataError if the weights do not fit the network, or an image cannot be read
// @throws DeviceError if the device fails, ranks share a GPU without permission, or a rank was lost
// @throws InterruptedError if a signal arrives
Evaluation evaluate(comm::World& world, const EvaluationRequest& request);

}  // namespace chexbench::bench
