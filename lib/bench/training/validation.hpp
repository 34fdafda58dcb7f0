// Measures what the network has learned, with images that it does not train on.
#pragma once

#include "bench/training/scoring.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Evaluates the images and returns an epoch's record in which the validation's fields are filled. validation_loss (mean
// binary cross-entropy over images and labels, or softmax cross-entropy over images; without smoothing and weights) and
// mean_auroc, or top1, are the same on every rank; the number of images, the intervals, top5 and the scores of the
// labels are filled on rank 0 only. The result does not depend on the number of ranks
// (scoring.hpp). Images that cannot be read are left out with a warning. Collective.
// @throws DataError if no image could be read, or as Pipeline::next()
// @throws DeviceError if the engine's device fails or a rank was lost
// @throws InterruptedError if a signal arrives
results::EpochRecord validate(const ScoringContext& context);

// Returns the score by which epochs are compared; larger is better. It is the mean AUROC, or of exclusive classes
// top1, or the negative loss if neither is defined.
double validation_score(const results::EpochRecord& epoch);

}  // namespace chexbench::bench
