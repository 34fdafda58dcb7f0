#include "core/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFile = "libcore_test_module.so";

std::string error_of(const char* file, const char* symbol) {
  return message_of<DeviceError>([&] { module_symbol("engine 'x'", file, symbol); });
}

TEST(Module, BesideTheExecutableFindsItsLibraryInAPackageOfPip) {
  auto* const answer = reinterpret_cast<int (*)()>(module_symbol("engine 'x'", kFile, "core_test_answer"));
  EXPECT_EQ(answer(), 42);
}

TEST(Module, ThatIsNowhereIsAnErrorThatNamesItsOwnerAndBothPlaces) {
  EXPECT_THAT(error_of("libnowhere.so", "f"),
              AllOf(HasSubstr("engine 'x'"), HasSubstr("bin/libnowhere.so"), HasSubstr("lib/chexbench/libnowhere.so")));
}

TEST(Module, WithoutALibraryOfNvidiaIsAnErrorThatNamesIt) {
  EXPECT_THAT(error_of("libcore_test_orphan.so", "f"),
              AllOf(HasSubstr("libcudnn.so.0: cannot open"), HasSubstr("nvidia/*/lib"),
                    HasSubstr("pip install 'chexbench[cuda]'")));
}

TEST(Module, OfAnotherBuildIsAnErrorThatNamesTheSymbol) {
  EXPECT_THAT(error_of(kFile, "newer_function"),
              AllOf(HasSubstr("engine 'x'"), HasSubstr("another build"), HasSubstr("newer_function")));
}

TEST(ProgramPath, IsFoundWithoutProc) {
  EXPECT_EQ(std::filesystem::path(program_path()).filename(), "core_test");
  EXPECT_EQ(program_path("/nowhere"), program_path());
}

TEST(Module, LogsAsTheProgramDoes) {
  auto* const log_in_module =
      reinterpret_cast<void (*)(const char*)>(module_symbol("engine 'x'", kFile, "core_test_log"));
  testing::internal::CaptureStderr();
  log::configure(log::Level::warning);
  log::warning("of the program");
  log_in_module("below the program's level");
  log::configure(log::Level::info);
  log_in_module("of the module");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, AllOf(HasSubstr("of the program"), HasSubstr("info: of the module")));
  EXPECT_THAT(text, testing::Not(HasSubstr("below")));
}

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
