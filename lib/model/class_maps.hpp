// Class activation maps: the regions of an image that speak for each label (Zhou et al., "Learning deep features for
// discriminative localization", CVPR 2016).
#pragma once

#include "model/graph.hpp"

namespace chexbench::model {

// Returns the network without its global average pool, and with its last linear layer as a 1x1 convolution, with the
// same parameters, of the feature maps that the pool averages. It gives, instead of logits, the maps of all labels,
// [outputs, rows, columns], where rows and columns are those of the feature maps. Because both layers are linear, the
// mean over a map is the label's logit.
// @throws SpecError if a layer other than dropout is between the pool and the last linear layer, or there is no pool
Graph class_map_network(Graph network);

}  // namespace chexbench::model
