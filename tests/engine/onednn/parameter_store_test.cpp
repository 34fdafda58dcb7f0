#include "engine/onednn/parameter_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/errors.hpp"

namespace chexbench::engine::onednn {
namespace {

using dnnl::memory;
using testing::Each;

const model::TensorInfo kConvolution{"conv.weight", {32, 3, 3, 3}};

class ParameterStoreTest : public testing::Test {
 protected:
  // A convolution in a layout that pads its 3 input channels to 16, between two short vectors.
  void SetUp() override {
    store_.add_vector({"fc.bias", {14}});
    store_.add(kConvolution, {{32, 3, 3, 3}, memory::data_type::f32, memory::format_tag::OIhw16i16o});
    store_.add_vector({"bn.weight", {33}});
    store_.allocate();
  }
  std::vector<float> counted(const ParameterSlot& slot, float first) const {
    std::vector<float> values(static_cast<std::size_t>(slot.info.count()));
    std::iota(values.begin(), values.end(), first);
    return values;
  }
  std::vector<float> read(const ParameterSlot& slot, float* from) const {
    std::vector<float> values(static_cast<std::size_t>(slot.info.count()));
    store_.read(slot, from, values);
    return values;
  }

  Device device_ = make_device(spec::Precision::f32);
  ParameterStore store_{device_};
};

TEST_F(ParameterStoreTest, LaysParametersOutInTheOrderTheyCameWithoutGaps) {
  std::size_t next = 0;
  std::vector<std::string> names;
  for (const auto& slot : store_.slots()) {
    names.push_back(slot->info.name);
    EXPECT_EQ(slot->offset, next);
    EXPECT_EQ(slot->weights, store_.weights().data() + next);
    EXPECT_EQ(slot->gradient, store_.gradients().data() + next);
    next += slot->count;
  }
  EXPECT_THAT(names, testing::ElementsAre("fc.bias", "conv.weight", "bn.weight"));
  EXPECT_EQ(next, store_.size());
  EXPECT_EQ(store_.weights().size(), next);
  EXPECT_EQ(store_.gradients().size(), next);
}

TEST_F(ParameterStoreTest, BeginsEachParameterAtACacheLineAndNoLaterThanItMust) {
  EXPECT_EQ(store_.slot("fc.bias").count, 16u);
  EXPECT_EQ(store_.slot("conv.weight").count, 32u * 16 * 9);
  EXPECT_EQ(store_.slot("bn.weight").count, 48u);
  for (const auto& slot : store_.slots()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot->weights) % 64, 0u) << slot->info.name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot->gradient) % 64, 0u) << slot->info.name;
  }
}

TEST_F(ParameterStoreTest, GivesBackInPyTorchsOrderWhatWasLoaded) {
  for (const auto& slot : store_.slots())
    store_.load(*slot, slot->weights, counted(*slot, static_cast<float>(slot->offset + 1)));
  for (const auto& slot : store_.slots()) {
    EXPECT_EQ(read(*slot, slot->weights), counted(*slot, static_cast<float>(slot->offset + 1))) << slot->info.name;
  }
  EXPECT_THAT(store_.gradients(), Each(0.0f));
}

TEST_F(ParameterStoreTest, KeepsTheLayoutThatWasAskedForAndZerosInItsPadding) {
  const ParameterSlot& slot = store_.slot("conv.weight");
  store_.load(slot, slot.weights, counted(slot, 1));
  // OIhw16i16o: blocks of 16 outputs, then the positions of the window, then 16 inputs of 16 outputs each.
  EXPECT_EQ(slot.weights[0], 1.0f);
  EXPECT_EQ(slot.weights[1], 1.0f + 27);       // the next output
  EXPECT_EQ(slot.weights[16], 1.0f + 9);       // the next input
  EXPECT_EQ(slot.weights[16 * 16], 1.0f + 1);  // the next position
  EXPECT_EQ(std::count(slot.weights, slot.weights + slot.count, 0.0f), static_cast<std::ptrdiff_t>(32 * 13 * 9));
}

TEST_F(ParameterStoreTest, ReadsGradientsAsItReadsWeights) {
  const ParameterSlot& slot = store_.slot("conv.weight");
  store_.load(slot, slot.weights, counted(slot, 1));
  std::copy_n(slot.weights, slot.count, slot.gradient);
  EXPECT_EQ(read(slot, slot.gradient), counted(slot, 1));
}

TEST_F(ParameterStoreTest, SuggestsTheNearestNameForAnUnknownOne) {
  try {
    store_.slot("conv.weigth");
    FAIL() << "accepted";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no parameter 'conv.weigth'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("conv.weight"));
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
