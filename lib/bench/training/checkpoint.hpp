// Writes the state of a training to a file and reads it back: the weights under torchvision's names, and everything
// needed to continue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/training/learning_rate.hpp"
#include "comm/communicator.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"
#include "spec/safetensors.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The contents of a checkpoint besides its tensors.
struct TrainingState {
  std::string experiment;    // name of the experiment
  std::int64_t updates = 0;  // number of updates of the optimizer
  LearningRate::State rate;
  int cores_per_rank = 0;                    // during its last epoch; 0: an old checkpoint without this value
  double best_score = 0;                     // the best validation_score() so far
  std::vector<std::string> labels;           // of the outputs; empty: an old checkpoint, see its epochs
  std::vector<results::EpochRecord> epochs;  // those that are finished
};
template <class Visitor, results::MaybeConst<TrainingState> Record>
void visit_fields(Visitor&& visit, Record& state) {
  visit("experiment", state.experiment);
  visit("updates", state.updates);
  visit("rate", state.rate);
  visit("cores_per_rank", state.cores_per_rank);
  visit("best_score", state.best_score);
  visit("labels", state.labels);
  visit("epochs", state.epochs);
}

// Returns the path of the checkpoint in `folder` from which an interrupted training continues.
std::string last_checkpoint(const std::string& folder);

// Returns the name of a label for a checkpoint: a folder's name may not be valid UTF-8, as JSON requires.
std::string kept_label(const std::string& name);

// Returns the contents of a checkpoint besides its tensors. Messages begin with `path`.
// @throws DataError if it is not a checkpoint, or no training can have reached that state
TrainingState training_state(const spec::Safetensors& file, const std::string& path);

// A weight file's description of its network. All empty if the file is not a checkpoint but only weights.
struct TrainedNetwork {
  std::string name;                 // "densenet121"
  std::string use;                  // how to feed it images, as a spec in JSON; empty: an old checkpoint
  std::vector<std::string> labels;  // of its outputs; empty: an old checkpoint
  int epochs = 0;                   // trained so far
};

// @throws DataError as training_state(), if the file contains a list of epochs
TrainedNetwork trained_network(const spec::Safetensors& file, const std::string& path);

// Returns whether the file at `path` was written after exactly these epochs.
// @throws DataError if it is not a checkpoint, or is damaged
bool is_checkpoint_after(const std::string& path, const std::vector<results::EpochRecord>& epochs);

// Writes a safetensors file at `path` atomically: the parameters and the running statistics (with num_batches_tracked,
// which PyTorch looks for) as f32, and, if `moments` is set, the optimizer's moments, without which a training cannot
// continue from the file. Creates missing folders, and removes half-written files of killed runs in the folder. Not
// collective. If `moments` is set, the engine must have an EpochTraining.
// @throws OutputError if it cannot be written; an existing checkpoint at that path then stays unchanged
// @throws DeviceError if the engine's device fails
void write_checkpoint(const std::string& path, const spec::TrialSpec& spec, const TrainingState& state,
                      engine::Engine& engine, bool moments);

// The checkpoint from which a training continues.
struct CheckpointToResume {
  std::string path;
  // An interrupted training continues, so its spec must be the same except for the number of ranks.
  bool same_training = false;
};

// Loads the checkpoint into the engines of all ranks, and returns the rest of its state, the same on every rank. Only
// rank 0 reads the file. `engine` must have an EpochTraining. Collective.
// @throws DataError if the file is not a checkpoint or is damaged, was written by another network or optimizer, or
// lacks something needed to continue
// @throws SpecError if same_training is set and the checkpoint is of another training
// @throws DeviceError if the engine's device fails or a rank was lost
TrainingState resume_from(const CheckpointToResume& checkpoint, const spec::TrialSpec& spec, engine::Engine& engine,
                          comm::Communicator& communicator);

}  // namespace chexbench::bench
