#include "core/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench {
namespace {

// The flag cannot be reset, so each case runs in a separate process and reports its result as the exit code.
class InterruptDeathTest : public testing::Test {
 protected:
  InterruptDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  // Returns the exit code of a main() that catches chexbench's errors.
  [[noreturn]] static void exit_as_main_would() {
    try {
      throw_if_interrupted();
    } catch (const Error& error) {
      std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(0);
  }
};

TEST_F(InterruptDeathTest, WithoutASignalNothingIsThrown) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        if (interrupt_requested()) std::_Exit(1);
        exit_as_main_would();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, SigintSetsTheFlagAndEndsWith130) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGINT);
        if (!interrupt_requested()) std::_Exit(1);
        exit_as_main_would();
      },
      testing::ExitedWithCode(130), "");
}

TEST_F(InterruptDeathTest, SigtermEndsWith143) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGTERM);
        exit_as_main_would();
      },
      testing::ExitedWithCode(143), "");
}

TEST_F(InterruptDeathTest, SighupEndsAsSigtermDoes) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_DFL);
        install_interrupt_handlers();
        std::raise(SIGHUP);
        exit_as_main_would();
      },
      testing::ExitedWithCode(143), "");
}

TEST_F(InterruptDeathTest, SighupStaysIgnoredUnderNohup) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        install_interrupt_handlers();
        std::raise(SIGHUP);
        exit_as_main_would();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, AReaderThatLeftEndsNothing) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGPIPE);
        exit_as_main_would();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, ALaterSigintEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGINT);
        sleep_until_s(now_s() + 1.1);
        std::raise(SIGINT);
        std::_Exit(1);
      },
      testing::ExitedWithCode(130), "");
}

TEST_F(InterruptDeathTest, TheSameKeystrokePassedOnByALauncherLeavesTimeToWriteResults) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::_Exit(interrupt_requested() ? 42 : 1);
      },
      testing::ExitedWithCode(42), "");
}

TEST_F(InterruptDeathTest, SigintAfterSigtermStillWaitsForTheLoop) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGTERM);
        std::raise(SIGINT);
        std::_Exit(interrupt_requested() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace chexbench
