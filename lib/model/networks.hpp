// The networks that chexbench trains. Each takes images of [3, image_size, image_size], gives one logit per label
// (`outputs` of them), and names its parameters as torchvision does, so that torchvision's weights can be loaded.
#pragma once

#include <span>
#include <string>

#include "core/batch.hpp"
#include "model/graph.hpp"
#include "model/weights.hpp"

namespace chexbench::model {

// Returns the names of all networks as the spec has them: resnet50, densenet121, alexnet, googlenet, mobilenet_v2.
// Thread-safe.
std::span<const std::string> network_names();

// Returns the graph of the network `name`.
// @throws SpecError if the name is unknown (the message suggests the nearest one), or if image_size is below 32 (63 for
// alexnet)
Graph make_network(const std::string& name, int image_size, int outputs = kNihLabels);

// Returns how torchvision draws the network's random weights; random_weights() takes it.
// @throws SpecError if the name is unknown
WeightDraws weight_draws(const std::string& name);

// Each of the functions below builds one network.
// @throws SpecError if image_size is too small, as in make_network()

// ResNet50 v1.5: He et al., "Deep residual learning for image recognition", CVPR 2016, with the stride in the 3x3
// convolution, as in torchvision.
Graph resnet50(int image_size, int outputs = kNihLabels);
// Huang et al., "Densely connected convolutional networks", CVPR 2017, as in torchvision (growth rate 32).
Graph densenet121(int image_size, int outputs = kNihLabels);
// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014, as in torchvision: without local
// response normalization.
Graph alexnet(int image_size, int outputs = kNihLabels);
// Szegedy et al., "Going deeper with convolutions", CVPR 2015, as in torchvision: with batch norms and with 3x3
// convolutions in place of 5x5. The auxiliary heads are left out.
Graph googlenet(int image_size, int outputs = kNihLabels);
// Sandler et al., "MobileNetV2: Inverted residuals and linear bottlenecks", CVPR 2018, as in torchvision.
Graph mobilenet_v2(int image_size, int outputs = kNihLabels);

// Makes a network give class activation maps, the regions of an image that speak for each label (Zhou et al., "Learning
// deep features for discriminative localization", CVPR 2016). Returns the network without its global average pool, and
// with its last linear layer as a 1x1 convolution, with the same parameters, of the feature maps that the pool
// averages. It gives, instead of logits, the maps of all labels, [outputs, rows, columns], where rows and columns are
// those of the feature maps. Because both layers are linear, the mean over a map is the label's logit.
// @throws SpecError if a layer other than dropout is between the pool and the last linear layer, or there is no pool
Graph class_map_network(Graph network);

}  // namespace chexbench::model
