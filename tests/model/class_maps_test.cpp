
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::model {
namespace {

TEST(ClassMaps, ReplaceThePoolAndTheLinearLayer) {
  for (const std::string name : {"resnet50", "densenet121", "googlenet", "mobilenet_v2"}) {
    const Graph network = make_network(name, 224, 5);
    const Graph maps = class_map_network(network);
    const Layer& flat = maps.layers.back();
    const Layer& head = *(maps.layers.end() - 2);
    EXPECT_EQ(flat.kind, LayerKind::flatten) << name;
    EXPECT_EQ(flat.channels, 5 * 7 * 7) << name;
    EXPECT_EQ(head.kind, LayerKind::convolution) << name;
    EXPECT_EQ(head.channels, 5) << name;
    EXPECT_EQ(head.kernel, 1) << name;
    EXPECT_EQ(head.inputs.front(), static_cast<int>(maps.layers.size()) - 3) << name << ": the feature maps";
    EXPECT_EQ(parameter_count(maps), parameter_count(network)) << name;
    EXPECT_EQ(head.name, network.layers.back().name) << name;
  }
}

TEST(ClassMaps, AreRefusedWhereLayersMixPlaces) {
  try {
    class_map_network(make_network("alexnet", 224));
    FAIL() << "nothing thrown";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("alexnet has no class activation maps"), std::string::npos);
  }
}

}  // namespace
}  // namespace chexbench::model
