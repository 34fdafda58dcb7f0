#include "engine/onednn/planner.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"

namespace chexbench::engine {
namespace {

class PlannerTest : public testing::Test {
 protected:
  Device device_ = make_device(spec::Precision::f32);
  Planner planner_{device_};
};

TEST_F(PlannerTest, TensorsThatLiveAtOnceDoNotOverlap) {
  RandomStream stream(3);
  std::vector<Tensor*> tensors;
  for (int time = 0; time < 60; ++time) {
    tensors.push_back(&planner_.bytes(stream.below(100000) + 1));
    planner_.use(*tensors.back());
    planner_.use(*tensors[stream.below(tensors.size())]);
    planner_.advance();
  }
  planner_.place();
  for (const Tensor* a : tensors) {
    for (const Tensor* b : tensors) {
      const bool meet_in_time = a->first_use <= b->last_use && b->first_use <= a->last_use;
      const bool meet_in_space = a->data < b->data + b->bytes && b->data < a->data + a->bytes;
      EXPECT_FALSE(a != b && meet_in_time && meet_in_space);
    }
  }
}

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

TEST_F(PlannerTest, ViewsOfLaterChannelsBeginThere) {
  Tensor& tensor = planner_.tensor({2, 4 * device_.block, 3, 5});
  planner_.use(tensor);
  planner_.place();
  const View all = tensor.view(), last = tensor.view(3 * device_.block);
  EXPECT_EQ(last.data - all.data, 3 * device_.block * 15 * 4);
  EXPECT_EQ(last.image_stride, 4 * device_.block * 15);
}

}  // namespace
}  // namespace chexbench::engine
