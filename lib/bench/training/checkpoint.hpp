// The state of a training as a file: weights under torchvision's names, and all that going on needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/training/learning_rate.hpp"
#include "comm/communicator.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// What a checkpoint knows beside its tensors.
struct TrainingState {
  std::string experiment;    // its name
  std::int64_t updates = 0;  // of the optimizer
  LearningRate::State rate;
  double best_score = 0;                     // of validation_score() so far
  std::vector<results::EpochRecord> epochs;  // that are done
};

// Writes PATH atomically, a safetensors file: parameters, running statistics (and num_batches_tracked, which PyTorch
// looks for), and `moments` of the optimizer where the training is to go on from it. Folders are made.
// @throws OutputError, after which an earlier checkpoint of that name is as it was
void write_checkpoint(const std::string& path, const spec::Experiment& spec, const TrainingState& state,
                      engine::Engine& engine, bool moments);

struct CheckpointToResume {
  std::string path;
  bool same_training = false;  // an interrupted one goes on: all of its spec must be as it was, but the number of ranks
};

// Brings the engine and all ranks to where the checkpoint was written. Only rank 0 reads the file. Collective.
// @throws DataError where the file is none, was written by another network or optimizer, or lacks what going on needs;
// SpecError where the same training should go on, and it was another one
TrainingState resume_from(const CheckpointToResume& checkpoint, const spec::Experiment& spec, engine::Engine& engine,
                          comm::Communicator& communicator);

}  // namespace chexbench::bench
