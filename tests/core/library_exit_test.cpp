#include "core/module.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/errors.hpp"

namespace chexbench {
namespace {

TEST(ALibraryThatExits, IsToldOf) {
  EXPECT_EXIT((watch_library_exits(), std::exit(1)), testing::ExitedWithCode(static_cast<int>(ExitCode::device)),
              "got no memory or no thread: lower");
}

TEST(ALibraryThatExits, IsNotMeantByOtherCodes) {
  EXPECT_EXIT((watch_library_exits(), std::exit(3)), testing::ExitedWithCode(3), "^$");
  EXPECT_EXIT((watch_library_exits(), exit_is_own(), std::exit(1)), testing::ExitedWithCode(1), "^$");
}

TEST(ALibraryThatExits, IsToldOfByTheMessageThatWasPutReady) {
  const auto exit_with = [](int status) {
    watch_library_exits();
    const LibraryExitMessage message("MPI gave up");
    std::exit(status);
  };
  for (const int status : {1, 16}) {
    EXPECT_EXIT(exit_with(status), testing::ExitedWithCode(static_cast<int>(ExitCode::device)),
                "^error: MPI gave up\n$");
  }
  { const LibraryExitMessage message("over"); }
  EXPECT_EXIT((watch_library_exits(), std::exit(3)), testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace chexbench
