#include "engine/onednn/buckets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "../emulated_fixture.hpp"

namespace chexbench::engine::onednn {
namespace {

using testing::ElementsAre;

class BucketsTest : public testing::Test {
 protected:
  std::vector<float> gradients_ = std::vector<float>(100);
  // Buckets of 20, 50 and 30 elements.
  Buckets buckets_{gradients_, {15, 5, 30, 20, 30}, {.first_bytes = 16 * 4, .bytes = 50 * 4}};
  RecordingReducer reducer_{2};
};

TEST_F(BucketsTest, AreHandedOverAsSoonAsTheyAreComplete) {
  buckets_.begin_step();
  buckets_.complete(15, reducer_);
  EXPECT_TRUE(reducer_.counts.empty());
  buckets_.complete(20, reducer_);
  EXPECT_THAT(reducer_.counts, ElementsAre(20u));
  buckets_.complete(69, reducer_);
  EXPECT_THAT(reducer_.counts, ElementsAre(20u));
  buckets_.complete(100, reducer_);
  EXPECT_THAT(reducer_.counts, ElementsAre(20u, 50u, 30u));
}

TEST_F(BucketsTest, CoverTheGradientsWithoutGaps) {
  const float* next = gradients_.data();
  for (const BucketSpan& span : buckets_.spans()) {
    EXPECT_EQ(span.data, next);
    next += span.count;
  }
  EXPECT_EQ(next, gradients_.data() + gradients_.size());
}

TEST_F(BucketsTest, ComeAgainInTheNextStep) {
  for (int step = 0; step < 2; ++step) {
    buckets_.begin_step();
    buckets_.complete(100, reducer_);
  }
  EXPECT_THAT(reducer_.counts, ElementsAre(20u, 50u, 30u, 20u, 50u, 30u));
}

}  // namespace
}  // namespace chexbench::engine::onednn
