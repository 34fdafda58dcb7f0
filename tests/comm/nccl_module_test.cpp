// Tests the modules themselves with NVIDIA's libraries, as far as they work without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/device_copies.hpp"
#include "comm/nccl/nccl.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::comm {
namespace {

TEST(NcclModule, IsFoundWithAllThatItNeeds) { EXPECT_EQ(nccl_problem(), ""); }

TEST(NcclModule, MakesIdsThatDiffer) { EXPECT_NE(make_nccl_id(), make_nccl_id()); }

TEST(CopiesModule, AsksCudaForTheGpu) {
  EXPECT_THAT(message_of<DeviceError>([] { make_device_copies(1 << 20); }), testing::HasSubstr("cudaSetDevice"));
}

}  // namespace
}  // namespace chexbench::comm
