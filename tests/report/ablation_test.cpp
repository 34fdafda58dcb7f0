#include "report/ablation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrialResult step(const std::string& pipeline, double images_per_s, int ranks = 2) {
  return make_trial({.pipeline = pipeline, .ranks = ranks}, std::vector<double>(5, images_per_s));
}

TEST(Ablation, HoldsEachStepAgainstTheOneBefore) {
  const auto findings = ablation_findings(pointers({step("naive", 100), step("keras", 50), step("optimized", 200)}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "ablation");
  EXPECT_THAT(findings[0].text, HasSubstr("over png, 2 ranks, each against the one before (95 % interval): naive 100 "
                                          "images/s; keras 0.50 x (0.50 to 0.50); optimized 4.00 x (4.00 to 4.00); all "
                                          "together 200 images/s."));
}

TEST(Ablation, NeedsThreeThatDifferInTheirPipelineAlone) {
  EXPECT_THAT(ablation_findings(pointers({step("naive", 100), step("optimized", 200), step("keras", 50, 1)})),
              IsEmpty());
}

TEST(Ablation, PassesOverWhatWasNotMeasured) {
  TrialResult missing = step("keras", 50);
  missing.repeats.clear();
  EXPECT_THAT(ablation_findings(pointers({step("naive", 100), missing, step("optimized", 200)})), IsEmpty());
}

}  // namespace
}  // namespace chexbench::report
