// The networks that chexbench trains, with one logit a label and torchvision's parameter names.
#pragma once

#include <span>
#include <string>

#include "core/batch.hpp"
#include "model/graph.hpp"
#include "model/weights.hpp"

namespace chexbench::model {

// Names as in the spec: resnet50, densenet121, alexnet, googlenet, mobilenet_v2.
std::span<const std::string> network_names();

// @throws SpecError for an unknown name (with the nearest) or an image size that is too small (32; alexnet 63)
Graph make_network(const std::string& name, int image_size, int outputs = kFindings);

// How torchvision draws the network's random weights. @throws SpecError for an unknown name
WeightDraws weight_draws(const std::string& name);

// ResNet50 v1.5: He et al., "Deep residual learning", CVPR 2016, with the stride in the 3x3 convolution, as
// torchvision.
Graph resnet50(int image_size, int outputs = kFindings);
// Huang et al., "Densely connected convolutional networks", CVPR 2017, as torchvision (growth 32).
Graph densenet121(int image_size, int outputs = kFindings);
// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014, as torchvision: no LRN.
Graph alexnet(int image_size, int outputs = kFindings);
// Szegedy et al., "Going deeper with convolutions", CVPR 2015, as torchvision: batch norms, 3x3 in place of 5x5, no
// auxiliary heads.
Graph googlenet(int image_size, int outputs = kFindings);
// Sandler et al., "MobileNetV2: Inverted residuals and linear bottlenecks", CVPR 2018, as torchvision.
Graph mobilenet_v2(int image_size, int outputs = kFindings);

}  // namespace chexbench::model
