// Error messages of the CUDA runtime as a user reads them. They need no driver.
#include "engine/cuda/kernels/launch_check.hpp"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message(cudaError_t error) {
  try {
    check_cuda(error, "a step");
    return "";
  } catch (const DeviceError& thrown) {
    EXPECT_EQ(thrown.code(), ExitCode::device);
    return thrown.what();
  }
}

TEST(CheckCuda, SuccessIsSilent) { EXPECT_EQ(message(cudaSuccess), ""); }

TEST(CheckCuda, NamesWhatWasTriedAndCudasError) {
  EXPECT_THAT(message(cudaErrorInvalidValue), AllOf(HasSubstr("a step failed"), HasSubstr("cudaErrorInvalidValue")));
}

TEST(CheckCuda, SaysWhatToDoAboutMemoryThatIsBroken) {
  EXPECT_THAT(message(cudaErrorECCUncorrectable), AllOf(HasSubstr("ECC"), HasSubstr("reset the GPU")));
}

TEST(CheckCuda, SaysWhatToDoAboutAGpuThatIsLost) {
  EXPECT_THAT(message(cudaErrorUnknown), AllOf(HasSubstr("may be lost"), HasSubstr("Xid")));
}

TEST(CheckCuda, SaysWhatToDoWhereMemoryOrTheGpuIsTaken) {
  EXPECT_THAT(message(cudaErrorMemoryAllocation), HasSubstr("training.batch_size"));
  EXPECT_THAT(message(cudaErrorDevicesUnavailable), HasSubstr("exclusive mode"));
}

TEST(CheckCuda, TellsADefectFromAFault) {
  for (const cudaError_t error : {cudaErrorLaunchFailure, cudaErrorIllegalAddress, cudaErrorMisalignedAddress})
    EXPECT_THAT(message(error), HasSubstr("a defect of chexbench or of a library"));
}

TEST(CheckCuda, TellsADeviceThatNoLongerWorksFromACallThatFailed) {
  for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable})
    EXPECT_THROW(check_cuda(error, "a step"), DeviceLostError) << error;
  for (const cudaError_t error : {cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorNoKernelImageForDevice}) {
    try {
      check_cuda(error, "a step");
    } catch (const DeviceLostError&) {
      ADD_FAILURE() << error;
    } catch (const DeviceError&) {
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
