#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "measure/nvml.hpp"

namespace chexbench::measure {
namespace {

TEST(NvmlAbsent, SaysHowToGetIt) {
  EXPECT_FALSE(has_nvml());
  EXPECT_THAT(message_of<DeviceError>([] { open_nvml(); }), testing::HasSubstr("scripts/setup --cuda"));
}

}  // namespace
}  // namespace chexbench::measure
