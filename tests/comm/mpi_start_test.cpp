#include "comm/mpi_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<double> lines_until(std::size_t lines, WaitTimes times) {
  std::vector<double> waited_s;
  std::promise<void> all_said;
  const StartWatch watch({.say =
                              [&](double s) {
                                waited_s.push_back(s);
                                if (waited_s.size() == lines) all_said.set_value();
                              },
                          .on_signal = [] { ADD_FAILURE(); }},
                         times);
  EXPECT_EQ(all_said.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  return waited_s;
}

TEST(StartWatch, SpeaksAfterItsTimesForAsLongAsItLives) {
  EXPECT_THAT(lines_until(1, {.first_line_s = 0.1, .next_line_s = 1000}), AllOf(SizeIs(1), Each(Ge(0.1))));
  EXPECT_GE(lines_until(2, {.first_line_s = 0.1, .next_line_s = 0.1}).back(), 0.2);
}

TEST(StartWatch, IsSilentAndGoesAtOnceWhereTheRanksCome) {
  std::vector<double> said_s;
  {
    const StartWatch watch({.say = [&](double s) { said_s.push_back(s); }, .on_signal = [] { ADD_FAILURE(); }});
  }
  EXPECT_THAT(said_s, IsEmpty());
}

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

TEST(LibraryName, IsNameAndVersionAlone) {
  EXPECT_EQ(short_library_name("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\n"), "MPICH 4.0.2");
  EXPECT_EQ(short_library_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI v4.1.4");
  EXPECT_EQ(short_library_name(""), "");
}

}  // namespace
}  // namespace chexbench::comm
