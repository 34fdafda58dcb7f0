// Compiled with lib/comm/nccl/*_absent.cpp, whether or not this build has NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/device_copies.hpp"
#include "comm/nccl/nccl.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(WithoutNccl, ThereIsAProblemThatSaysWhatToInstallAndWhatElseToTake) {
  EXPECT_THAT(nccl_problem(), AllOf(HasSubstr("install"), HasSubstr("NCCL 2"), HasSubstr("comm.backend=mpi")));
}

TEST(WithoutNccl, UsingItIsThatProblem) {
  EXPECT_THROW(make_nccl_id(), DeviceError);
  try {
    join_nccl({}, {});
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.what(), nccl_problem());
  }
}

TEST(WithoutCuda, CopiesAreAnErrorThatSaysWhatToInstall) {
  try {
    make_device_copies(0);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("no CUDA"), HasSubstr("install")));
  }
}

}  // namespace
}  // namespace chexbench::comm
