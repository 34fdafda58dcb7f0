// What the network has learned, by images that it does not train on.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

struct ValidationContext {
  const spec::Experiment& spec;
  const dataset::Dataset& images;
  engine::Engine& engine;  // has an EpochTraining
  comm::Communicator& communicator;
  std::vector<int> cores;
};

// Fills loss, AUROCs and the number of images of an epoch's record, the same on every rank (intervals and scores on
// rank 0 alone). Each rank evaluates a share of the images, each image once, neither flipped nor cropped at random;
// scores go to rank 0 under the images' numbers, so that neither order nor ranks matter. Collective.
// @throws DataError, also where no image could be read; DeviceError, InterruptedError
results::EpochRecord validate(const ValidationContext& context);

// By which epochs are compared, larger is better: the mean AUROC, or where it is undefined minus the loss.
double validation_score(const results::EpochRecord& epoch);

}  // namespace chexbench::bench
