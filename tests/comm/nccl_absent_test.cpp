// Compiled with lib/comm/nccl/*_absent.cpp, whether or not this build has NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/device_copies.hpp"
#include "comm/nccl/nccl.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(WithoutNccl, ThereIsAProblemThatSaysWhatToInstallAndWhatElseToTake) {
  EXPECT_THAT(nccl_problem(), AllOf(HasSubstr("install"), HasSubstr("NCCL 2"), HasSubstr("comm.backend=mpi")));
}

TEST(WithoutNccl, UsingItIsThatProblem) {
  EXPECT_EQ(message_of<DeviceError>([] { make_nccl_id(); }), nccl_problem());
  EXPECT_EQ(message_of<DeviceError>([] { join_nccl({}, {}); }), nccl_problem());
}

TEST(WithoutCuda, CopiesAreAnErrorThatSaysWhatToInstall) {
  EXPECT_THAT(message_of<DeviceError>([] { make_device_copies(0); }),
              AllOf(HasSubstr("no CUDA"), HasSubstr("install")));
}

}  // namespace
}  // namespace chexbench::comm
