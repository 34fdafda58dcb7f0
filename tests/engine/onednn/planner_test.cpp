#include "engine/onednn/planner.hpp"

#include <gtest/gtest.h>

namespace chexbench::engine::onednn {
namespace {

class PlannerTest : public testing::Test {
 protected:
  Device device_ = make_device(spec::Precision::f32);
  Planner planner_{device_};
};

TEST_F(PlannerTest, TensorsThatNeverMeetShareMemory) {
  Tensor& first = planner_.bytes(1 << 20);
  planner_.use(first);
  planner_.advance();
  Tensor& second = planner_.bytes(1 << 20);
  planner_.use(second);
  planner_.place();
  EXPECT_EQ(first.data, second.data);
  EXPECT_LT(planner_.arena_bytes(), std::size_t{3} << 19);
}

TEST_F(PlannerTest, ATensorKeepsItsMemoryUntilItsLastUse) {
  Tensor& first = planner_.bytes(1 << 20);
  Tensor& second = planner_.bytes(1 << 20);
  planner_.use(first);
  planner_.advance();
  planner_.use(second);
  planner_.advance();
  planner_.use(first);
  planner_.place();
  EXPECT_NE(first.data, second.data);
}

TEST_F(PlannerTest, ViewsOfLaterChannelsBeginThere) {
  Tensor& tensor = planner_.tensor({2, 4 * device_.block, 3, 5});
  planner_.use(tensor);
  planner_.place();
  const View all = tensor.view(), last = tensor.view(3 * device_.block);
  EXPECT_EQ(last.data - all.data, 3 * device_.block * 15 * 4);
  EXPECT_EQ(last.image_stride, 4 * device_.block * 15);
}

}  // namespace
}  // namespace chexbench::engine::onednn
