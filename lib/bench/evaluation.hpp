// Builds the network from a file of weights on the engine of each rank, and scores images with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/training/scoring.hpp"
#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "spec/safetensors.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

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
