#include "core/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chexbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The level and the rank are global: each test sets what it needs, and the defaults are restored after it.
class Log : public testing::Test {
 protected:
  Log() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  ~Log() override { log::configure(log::Level::info); }

  template <class Write>
  static std::string stderr_of(Write write) {
    testing::internal::CaptureStderr();
    write();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, GoesToStderrAndNeverToStdout) {
  testing::internal::CaptureStdout();
  const std::string written = stderr_of([] { log::info("{} of {}", 3, 12); });
  EXPECT_THAT(written, AllOf(HasSubstr("info: 3 of 12"), testing::EndsWith("\n")));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(Log, LeavesOutWhatIsLessSevereThanTheLevel) {
  log::configure(log::Level::warning);
  const std::string written = stderr_of([] {
    log::debug("a debug line");
    log::info("an info line");
    log::warning("a warning line");
    log::error("an error line");
  });
  EXPECT_THAT(written, AllOf(Not(HasSubstr("a debug line")), Not(HasSubstr("an info line")),
                             HasSubstr("a warning line"), HasSubstr("an error line")));
}

TEST_F(Log, WritesDebugLinesWhenAskedTo) {
  log::configure(log::Level::debug);
  EXPECT_THAT(stderr_of([] { log::debug("fine detail"); }), HasSubstr("fine detail"));
}

TEST_F(Log, CanBeTurnedOff) {
  log::configure(log::Level::off);
  EXPECT_EQ(stderr_of([] { log::error("unheard"); }), "");
}

TEST_F(Log, TakesBracesInAMessageLiterally) {
  EXPECT_THAT(stderr_of([] { log::write(log::Level::info, "{\"op\": \"map\"}"); }), HasSubstr("{\"op\": \"map\"}"));
}

TEST_F(Log, ShowsWhatATerminalWouldObey) {
  const std::string written = stderr_of([] { log::warning("no {}", "\x1b]0;title\x07 \xe2\x80\xae \xff"); });
  EXPECT_THAT(written, HasSubstr("warning: no \\x1b]0;title\\x07 \\xe2\\x80\\xae \\xff\n"));
}

TEST_F(Log, FurtherLinesOfAMessageDoNotLookLikeMessages) {
  const std::string written = stderr_of([] { log::info("a.png\n[12:00:00] error: forged\n"); });
  EXPECT_THAT(written, HasSubstr("info: a.png\n  [12:00:00] error: forged\n"));
}

TEST_F(Log, ShowsTheRankWhereOneIsGiven) {
  EXPECT_THAT(stderr_of([] { log::info("before"); }), Not(HasSubstr("rank")));
  EXPECT_EXIT(
      {
        log::configure(log::Level::info, 3);
        log::info("after");
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "rank 3: after");
}

TEST_F(Log, WritesOnceWhatIsFoundAgainAndOnRank0Only) {
  const auto tell = [](int root) { log::info_once("root {} holds classes", root); };
  EXPECT_THAT(stderr_of([&] { tell(1); }), HasSubstr("info: root 1 holds classes"));
  EXPECT_EQ(stderr_of([&] { tell(1); }), "");
  EXPECT_THAT(stderr_of([&] { tell(2); }), HasSubstr("info: root 2"));
  log::configure(log::Level::info, 1);
  EXPECT_EQ(stderr_of([&] { tell(3); }), "");
  log::configure(log::Level::info, 0);
  EXPECT_THAT(stderr_of([&] { tell(3); }), HasSubstr("root 3"));
}

}  // namespace
}  // namespace chexbench
