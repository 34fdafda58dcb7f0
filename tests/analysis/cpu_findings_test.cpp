#include "analysis/input_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

results::Report report_of(const std::string& engine) {
  results::Report report = results::make_report({results::make_trial({.engine = engine}, {10, 11})});
  report.trials[0].spec.training.precision = spec::Precision::bf16;
  report.environment.cpu_kind = "Emerald Rapids";
  report.environment.unused_instruction_sets = {"AMX (the hypervisor hides it)"};
  return report;
}

TEST(CpuFindings, NameWhatATrainingOnTheCpuCouldHaveUsed) {
  const auto findings = cpu_findings(report_of("onednn"));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "unused_instructions");
  EXPECT_THAT(findings[0].text, HasSubstr("(Emerald Rapids) has instruction sets that training did not use: AMX (the "
                                          "hypervisor hides it)."));
}

TEST(CpuFindings, AreNoneWhereNothingIsUnusedOrNothingTrainsOnTheCpu) {
  EXPECT_THAT(cpu_findings(report_of("none")), IsEmpty());
  results::Report report = report_of("onednn");
  report.environment.unused_instruction_sets.clear();
  EXPECT_THAT(cpu_findings(report), IsEmpty());
  report = report_of("onednn");
  report.trials[0].spec.training.precision = spec::Precision::f32;
  EXPECT_THAT(cpu_findings(report), IsEmpty()) << "f32 does not use AMX";
  report.environment.unused_instruction_sets.push_back("AVX-512 (CHEXBENCH_ISA rules it out)");
  EXPECT_THAT(cpu_findings(report).at(0).text, HasSubstr("did not use: AVX-512 (CHEXBENCH_ISA rules it out)."));
  report = report_of("onednn");
  report.trials[0].repeats.clear();
  EXPECT_THAT(cpu_findings(report), IsEmpty());
}

}  // namespace
}  // namespace chexbench::analysis
