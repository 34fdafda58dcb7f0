// The networks that chexbench trains, each with 14 outputs (one logit a finding) and torchvision's parameter names.
#pragma once

#include <span>
#include <string>

#include "model/graph.hpp"
#include "model/weights.hpp"

namespace chexbench::model {

// Names as in the spec: resnet50, densenet121.
std::span<const std::string> network_names();

// @throws SpecError for an unknown name (with the nearest) or an image size below 32
Graph make_network(const std::string& name, int image_size);

// The fan that torchvision scales the network's random convolution weights by. @throws SpecError for an unknown name
Fan weight_fan(const std::string& name);

// ResNet50 v1.5: He et al., "Deep residual learning", CVPR 2016, with the stride in the 3x3 convolution, as
// torchvision.
Graph resnet50(int image_size);
// Huang et al., "Densely connected convolutional networks", CVPR 2017, as torchvision (growth 32).
Graph densenet121(int image_size);

}  // namespace chexbench::model
