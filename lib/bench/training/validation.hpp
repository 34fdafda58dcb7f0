// Measures what the network has learned, with images that it does not train on.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// What a validation works with. The references must outlive the call.
struct ValidationContext {
  const spec::Experiment& spec;
  const dataset::Dataset& images;  // those that validate
  engine::Engine& engine;          // must have an EpochTraining
  comm::Communicator& communicator;
  std::vector<int> cores;  // of this rank
};

// Evaluates the images and returns an epoch's record in which the validation's fields are filled. validation_loss (mean
// binary cross-entropy over images and labels) and mean_auroc are the same on every rank; the number of images, the
// intervals and the scores of the labels are filled on rank 0 only. Each rank evaluates a share of the images, each
// image once, without random flips and crops. The scores go to rank 0 under the images' numbers, so the result does not
// depend on order or on the number of ranks. Images that cannot be read are left out with a warning. Collective.
// @throws DataError if no image could be read, or as Pipeline::next()
// @throws DeviceError if the engine's device fails or a rank was lost
// @throws InterruptedError if a signal arrives
results::EpochRecord validate(const ValidationContext& context);

// Returns the score by which epochs are compared; larger is better. It is the mean AUROC, or the negative loss if the
// AUROC is undefined.
double validation_score(const results::EpochRecord& epoch);

}  // namespace chexbench::bench
