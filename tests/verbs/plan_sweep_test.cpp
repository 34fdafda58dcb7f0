#include "verbs/sweeps/sweeps.hpp"

#include <gtest/gtest.h>

namespace chexbench::verbs {
namespace {

TEST(PlanSweepLine, HoldsWhatRanWithItsTime) {
  const engine::PlanTiming timing{.network = "resnet50",
                                  .precision = spec::Precision::fp16,
                                  .pattern = "forward",
                                  .shape = "n64 256x56x56 -> 64 k1 s1",
                                  .engine = "eng2_k2=4",
                                  .ran = true,
                                  .workspace_bytes = 1024,
                                  .median_s = 125e-6,
                                  .flops_per_s = 52.6e12};
  EXPECT_EQ(
      to_json_line(timing),
      R"({"network": "resnet50", "precision": "fp16", "pattern": "forward", "shape": "n64 256x56x56 -> 64 k1 s1", )"
      R"("engine": "eng2_k2=4", "ran": true, "workspace_bytes": 1024, "median_us": 125.00, "tflops_per_s": 52.60})"
      "\n");
}

TEST(PlanSweepLine, HasNoTimeForWhatDidNotRun) {
  const std::string line = to_json_line({.network = "resnet50", .pattern = "forward"});
  EXPECT_NE(line.find(R"("ran": false)"), std::string::npos);
  EXPECT_EQ(line.find("median_us"), std::string::npos);
  EXPECT_EQ(line.find("reason"), std::string::npos);
}

TEST(PlanSweepLine, SaysWhyAPlanDidNotRun) {
  const std::string line = to_json_line({.network = "resnet50", .engine = "eng3", .reason = "cuDNN: \"x\" failed"});
  EXPECT_NE(line.find(R"(, "reason": "cuDNN: \"x\" failed"})"), std::string::npos) << line;
}

}  // namespace
}  // namespace chexbench::verbs
