#include "verbs/model/op_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

OpTiming timed() {
  return {.chexbench_version = "1.2.3",
          .request = {.model = "tiny", .image_size = 32, .batch_size = 4, .steps = 3},
          .device = "a CPU",
          .ops = {{.kind = "convolution 3x3", .ops = 2, .forward_s = 0.1, .backward_s = 0.2},
                  {.kind = "norm", .ops = 1, .forward_s = 0.02, .backward_s = 0.03}},
          .step_s = 0.4,
          .update_s = 0.04};
}

TEST(OpTiming, LeavesWhatIsNeitherAnOpNorTheUpdate) { EXPECT_NEAR(timed().other_s(), 0.01, 1e-12); }

TEST(OpTimingTable, HasTheShareOfEachKindInAStep) {
  const std::string text = op_timing_table(timed());
  EXPECT_THAT(text, HasSubstr("tiny 32x32 f32, batch 4, on a CPU\nstep: 400.0 ms, 10.0 images/s, mean of 3 steps"));
  EXPECT_THAT(text, HasSubstr("convolution 3x3    2       100.0        200.0       75.0 %\n"));
  EXPECT_THAT(text, HasSubstr("update                                   40.0       10.0 %\n"));
  EXPECT_THAT(text, HasSubstr("other                                    10.0        2.5 %"));
}

TEST(OpTimingJson, HoldsAllTimes) {
  const auto object = nlohmann::json::parse(op_timing_json(timed()));
  EXPECT_EQ(object.at("chexbench_version"), "1.2.3");
  EXPECT_EQ(object.at("step_s"), 0.4);
  EXPECT_EQ(object.at("ops").at(0),
            nlohmann::json::parse(R"({"kind": "convolution 3x3", "ops": 2, "forward_s": 0.1, "backward_s": 0.2})"));
}

}  // namespace
}  // namespace chexbench::verbs
