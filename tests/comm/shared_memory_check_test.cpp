#include "comm/mpi_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kOverUcx = "MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\n";
constexpr const char* kOverOfi = "MPICH Version:\t4.3.0\nMPICH Device:\tch4:ofi\n";
constexpr std::uint64_t kDocker = 64 << 20;

measure::SharedMemory memory_of(std::uint64_t total_bytes, std::uint64_t free_bytes) {
  return {.exists = true, .total_bytes = total_bytes, .free_bytes = free_bytes, .problem = {}};
}

void check(const std::map<std::string, std::string>& variables, const char* library,
           const measure::SharedMemory& memory) {
  check_shared_memory(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      library, memory);
}

TEST(SharedMemoryCheck, RefusesMoreRanksThanFit) {
  EXPECT_NO_THROW(check({{"MPI_LOCALNRANKS", "15"}}, kOverUcx, memory_of(kDocker, kDocker)));
  EXPECT_THAT(
      [] {
        check({{"MPI_LOCALNRANKS", "16"}}, kOverUcx, memory_of(kDocker, kDocker));
      },
      ThrowsMessage<DeviceError>(AllOf(HasSubstr("16 ranks"), HasSubstr("69 MB"), HasSubstr("67.1 of 67.1 MB"),
                                       HasSubstr("--shm-size"), HasSubstr("--ipc=host"))));
  EXPECT_THROW(check({{"MPI_LOCALNRANKS", "2"}}, kOverUcx, memory_of(kDocker, 8'000'000)), DeviceError) << "half full";
  EXPECT_NO_THROW(check({{"PMI_SIZE", "64"}}, kOverUcx, memory_of(kDocker, kDocker))) << "they may be on other hosts";
  EXPECT_THROW(check({{"PMI_SIZE", "64"}}, kOverUcx, memory_of(kDocker, 4'000'000)), DeviceError);
  EXPECT_THROW(check({}, kOverUcx, memory_of(0, 0)), DeviceError) << "tmpfs without a limit, which UCX cannot use";
}

TEST(SharedMemoryCheck, RefusesWhatCannotBeWrittenTo) {
  measure::SharedMemory memory = memory_of(kDocker, kDocker);
  memory.problem = "Read-only file system";
  EXPECT_THAT([&] { check({}, kOverUcx, memory); }, ThrowsMessage<DeviceError>(HasSubstr("Read-only file system")));
}

TEST(SharedMemoryCheck, LeavesAloneWhatItHasNotMeasured) {
  EXPECT_NO_THROW(check({{"MPI_LOCALNRANKS", "64"}}, kOverOfi, memory_of(kDocker, kDocker)));
  EXPECT_NO_THROW(check({{"MPI_LOCALNRANKS", "64"}, {"UCX_TLS", "sysv,self"}}, kOverUcx, memory_of(kDocker, kDocker)));
  EXPECT_NO_THROW(check({{"MPI_LOCALNRANKS", "64"}}, kOverUcx, {})) << "there is no /dev/shm";
}

}  // namespace
}  // namespace chexbench::comm
