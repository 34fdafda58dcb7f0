#include "engine/cuda/kernels/launch_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

TEST(ProgrammaticLaunch, IsForDevicesThatCan) {
  EXPECT_TRUE(launches_programmatically(90, nullptr));
  EXPECT_TRUE(launches_programmatically(100, "on"));
  for (const int older : {70, 75, 80, 86, 89}) EXPECT_FALSE(launches_programmatically(older, "on")) << older;
}

TEST(ProgrammaticLaunch, CanBeTurnedOff) { EXPECT_FALSE(launches_programmatically(90, "off")); }

TEST(ProgrammaticLaunch, AnythingElseIsAnErrorOnEveryDevice) {
  for (const int capability : {70, 90}) {
    try {
      launches_programmatically(capability, "0ff");
      FAIL();
    } catch (const SpecError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("CHEXBENCH_PROGRAMMATIC_LAUNCH cannot be '0ff'"),
                                               testing::HasSubstr("'off'")));
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
