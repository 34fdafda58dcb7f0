#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/log.hpp"
#include "core/terminal.hpp"

namespace chexbench {
namespace {

std::string shown(bool is_shown, int times, const char* text = "at work") {
  testing::internal::CaptureStderr();
  {
    StatusLine line(is_shown);
    for (int i = 0; i < times; ++i) line.show(text);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(StatusLine, ShowsItsTextAndRemovesItAtTheEnd) { EXPECT_EQ(shown(true, 1), "\r\033[Kat work\r\033[K"); }

TEST(StatusLine, StaysSilentWhereItIsNotShown) { EXPECT_EQ(shown(false, 3), ""); }

TEST(StatusLine, LeavesNothingToRemoveWhereNothingWasShown) { EXPECT_EQ(shown(true, 0), ""); }

TEST(StatusLine, ObeysNothingInItsText) { EXPECT_EQ(shown(true, 1, "a\x1b[2J\nb"), "\r\033[Ka\\x1b[2J\\x0ab\r\033[K"); }

TEST(StatusLine, DoesNotFlicker) { EXPECT_EQ(shown(true, 2), shown(true, 1)); }

TEST(StatusLine, MakesRoomForTheLog) {
  testing::internal::CaptureStderr();
  {
    StatusLine line(true);
    line.show("at work");
    log::info("told");
    write_own_line("and told");
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find("\r\033[Kat work\r\033[K["), 0u) << written;
  EXPECT_NE(written.find("told\nand told\n"), std::string::npos) << written;
}

TEST(StatusLine, IsNoReasonToEndARunWhereStderrTakesNothing) {
  const int kept = dup(STDERR_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  dup2(full, STDERR_FILENO);
  EXPECT_NO_THROW(StatusLine(true).show("at work"));
  dup2(kept, STDERR_FILENO);
  close(full);
  close(kept);
}

}  // namespace
}  // namespace chexbench
