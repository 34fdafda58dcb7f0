// Class activation maps: which places of an image speak for each label (Zhou et al., "Learning deep features for
// discriminative localization", CVPR 2016).
#pragma once

#include "model/graph.hpp"

namespace chexbench::model {

// Returns the network with its global average pool taken out and its last linear layer in the form of a 1x1
// convolution, with the same parameters, of the feature maps that the pool averages. It gives, instead of logits, the
// maps of all labels, [outputs, rows, columns], where rows and columns are those of the feature maps. As both layers
// are linear, the mean over a map is the label's logit.
// @throws SpecError if another layer than dropout is between the pool and the last linear layer, or there is no pool
Graph class_map_network(Graph network);

}  // namespace chexbench::model
