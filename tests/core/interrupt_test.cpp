#include "core/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench {
namespace {

// Ends the process with the exit code of a main() that catches chexbench's errors.
[[noreturn]] void exit_as_main_would() {
  try {
    throw_if_interrupted();
  } catch (const Error& error) {
    std::_Exit(static_cast<int>(error.code()));
  }
  std::_Exit(interrupt_requested() ? 1 : 0);
}

struct Case {
  const char* what;
  std::vector<int> signals;
  int exit_code;
  void (*hangup_before)(int) = SIG_DFL;  // the action of SIGHUP that the process inherited
};

// The flag cannot be reset, so each case runs in a separate process and reports its result as the exit code.
TEST(InterruptDeathTest, SignalsEndARunInOrderWithTheirCode) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const Case& one : {Case{"no signal", {}, 0},
                          {"SIGINT", {SIGINT}, 130},
                          {"SIGTERM", {SIGTERM}, 143},
                          {"SIGHUP", {SIGHUP}, 143},
                          {"SIGHUP under nohup", {SIGHUP}, 0, SIG_IGN},
                          {"a reader that left", {SIGPIPE}, 0},
                          {"SIGINT after SIGTERM waits for the loop", {SIGTERM, SIGINT}, 143}}) {
    const auto run = [&one] {
      std::signal(SIGHUP, one.hangup_before);
      install_interrupt_handlers();
      for (const int signal : one.signals) std::raise(signal);
      exit_as_main_would();
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(one.exit_code), "") << one.what;
  }
}

TEST(InterruptDeathTest, TheSameKeystrokePassedOnByALauncherLeavesTimeToWriteResults) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::_Exit(interrupt_requested() ? 42 : 1);  // not 130, the code of a second keystroke
      },
      testing::ExitedWithCode(42), "");
}

TEST(InterruptDeathTest, ALaterSigintEndsTheProcessAtOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
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

}  // namespace
}  // namespace chexbench
