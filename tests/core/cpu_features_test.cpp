#include "core/cpu_features.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/errors.hpp"

namespace chexbench {
namespace {

// Features are read once per process, so each limit is tested in a process of its own.
class CpuFeaturesDeathTest : public testing::Test {
 protected:
  CpuFeaturesDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  static CpuFeatures with_limit(const char* isa) {
    setenv("CHEXBENCH_ISA", isa, 1);
    return cpu_features();
  }
  [[noreturn]] static void exit_with(bool good) { std::_Exit(good ? 0 : 1); }
};

TEST(CpuFeaturesTest, NameTheModelAndAreConsistent) {
  const CpuFeatures& features = cpu_features();
  EXPECT_FALSE(features.model.empty());
  if (features.avx512_bf16) {
    EXPECT_TRUE(features.avx512);
  }
}

TEST_F(CpuFeaturesDeathTest, BaselineHidesEverything) {
  EXPECT_EXIT(
      {
        const CpuFeatures features = with_limit("baseline");
        exit_with(!features.avx2 && !features.avx512 && !features.avx512_bf16);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CpuFeaturesDeathTest, Avx2HidesAvx512Alone) {
  EXPECT_EXIT(
      {
        const CpuFeatures features = with_limit("avx2");
        exit_with(!features.avx512 && !features.avx512_bf16 && features.avx2 == bool(__builtin_cpu_supports("avx2")));
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CpuFeaturesDeathTest, AnotherWordIsAnError) {
  EXPECT_EXIT(
      {
        try {
          with_limit("avx1024");
        } catch (const SpecError& error) {
          exit_with(std::string(error.what()).find("avx1024") != std::string::npos);
        }
        exit_with(false);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace chexbench
