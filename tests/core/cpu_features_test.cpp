#include "core/cpu_features.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

TEST(CpuFeatures, NameTheModelAndAreConsistent) {
  const CpuFeatures& features = cpu_features();
  EXPECT_FALSE(features.model.empty());
  EXPECT_TRUE(features.avx512 || !features.avx512_bf16);
  EXPECT_TRUE(features.avx512_bf16 || !features.amx_bf16);
}

// Features are read once per process, so the environment is read in a separate process.
TEST(CpuFeaturesDeathTest, AreBelowTheCeilingOfTheEnvironment) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("CHEXBENCH_ISA", "avx2", 1);
        std::_Exit(!cpu_features().avx512 && cpu_features().avx2 == x86_features().avx2 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CpuFeatures, RefuseAnotherWordAsTheCeiling) {
  EXPECT_EQ(message_of<SpecError>([] { features_below({}, "avx1024"); }),
            "CHEXBENCH_ISA must be baseline, avx2 or avx512, not 'avx1024'");
}

}  // namespace
}  // namespace chexbench
