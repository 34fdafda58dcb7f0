// Measures how well the network has learned, with images that it does not train on.
#pragma once

#include <vector>

#include "bench/training/scoring.hpp"
#include "dataset/dataset.hpp"
#include "measure/auroc.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The results of a validation, and the scores behind them.
struct Validation {
  results::EpochRecord epoch;    // with the validation's fields filled, except for `curves`
  measure::ScoredImages scored;  // by their logits; on rank 0 only, and not for exclusive classes
};

// Evaluates the images. validation_loss (mean binary cross-entropy over images and labels, or softmax cross-entropy
// over images; without smoothing and weights) and mean_auroc, or top1, are the same on every rank; the number of
// images, the intervals, top5 and the scores of the labels are filled on rank 0 only. The result does not depend on the
// number of ranks (scoring.hpp). Images that cannot be read are left out with a warning. Collective.
// @throws DataError if no image could be read, or as Pipeline::next()
// @throws DeviceError if the engine's device fails or a rank was lost
// @throws InterruptedError if a signal arrives
Validation validate(const ScoringContext& context);

// Returns the curves of all labels, which must be independent of each other. They take about as long as the AUROCs, so
// a training computes them only for its best epoch so far.
std::vector<results::LabelCurves> curves_of(const Validation& validation);

// Returns the score by which epochs are compared; larger is better. It is the mean AUROC, or top1 for exclusive
// classes, or the negative loss if neither is defined.
double validation_score(const results::EpochRecord& epoch);

// Returns the number of epochs after the one with the highest validation_score(). 0 if there are none.
int epochs_without_better(const std::vector<results::EpochRecord>& epochs);

// Checks that the images suit training.task: with classes, each image has exactly one.
// @throws DataError naming an image with none or several
void check_task(const spec::TrialSpec& spec, const dataset::Dataset& images);

// Returns the weight of each label by training.class_weights; empty if all are equal. If balanced, the positives of a
// label together count as much as its negatives (negatives / positives) or, for classes, each class as much as any
// other (images / classes / images of the class). Only training images are counted, not those of the same split used
// for validation, and not those whose label is unknown.
// @throws SpecError if the number of weights in the spec is neither one nor the number of labels
// @throws DataError if a label cannot be balanced because none or all of the images have it
std::vector<float> class_weights(const spec::TrialSpec& spec, const dataset::Dataset& images);

}  // namespace chexbench::bench
