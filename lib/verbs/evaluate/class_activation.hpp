// Class activation maps: where in an image the last layer finds what speaks for a label. Zhou et al., "Learning deep
// features for discriminative localization", CVPR 2016.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/epoch_training.hpp"
#include "verbs/evaluate/evaluate.hpp"

namespace chexbench::verbs {

// The map of one label: the sum over channels of the feature maps times the weights of the label in the last layer,
// without its bias, resized bilinearly to `size` x `size` pixels (half-pixel centres, as PyTorch's interpolate() does).
// `weights` has one value for each channel. Takes the first image of `features`.
std::vector<float> class_activation(const engine::FeatureMaps& features, std::span<const float> weights, int size);

// Returns the weights of the last layer, [outputs, channels].
// @throws SpecError if the network averages no maps before its last layer
std::vector<float> head_weights(const EvaluatedNetwork& network);

// Writes a gray PNG for each image of `result` and each label into the folder: IMAGE.LABEL.png, of the size of the
// network's input. The least value of a map is black and its greatest white.
// @throws OutputError if a file cannot be written
void write_activation_maps(const EvaluationResult& result, const std::string& folder);

}  // namespace chexbench::verbs
