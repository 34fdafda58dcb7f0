#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "measure/nvml.hpp"

namespace chexbench::measure {
namespace {

TEST(NvmlAbsent, SaysHowToGetIt) {
  EXPECT_FALSE(has_nvml());
  try {
    open_nvml();
    FAIL() << "no DeviceError";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("scripts/setup --cuda"));
  }
}

}  // namespace
}  // namespace chexbench::measure
