#include "storage/retry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.hpp"

namespace chexbench::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RetryNotesTest : public testing::Test {
 protected:
  // Returns the user's message about a retry at this time.
  std::string told_at(double now_s) {
    testing::internal::CaptureStderr();
    notes_->tell_retry("s3://b/x", "the server says 503", 2, 5, now_s);
    return testing::internal::GetCapturedStderr();
  }
  std::unique_ptr<RetryNotes> notes_ = std::make_unique<RetryNotes>("s3://b");
};

TEST_F(RetryNotesTest, TellTheFirstRetryAndThenALineInTenSecondsWithACount) {
  EXPECT_THAT(told_at(100),
              AllOf(HasSubstr("warning: s3://b/x: the server says 503; try 2 of 5"), Not(HasSubstr("more"))));
  EXPECT_THAT(told_at(100.5), IsEmpty());
  EXPECT_THAT(told_at(109.9), IsEmpty());
  EXPECT_THAT(told_at(110), HasSubstr("(2 more retries since the last warning)"));
  EXPECT_THAT(told_at(121), Not(HasSubstr("more")));
}

TEST_F(RetryNotesTest, TellInTheEndHowManyWereNotTold) {
  told_at(1), told_at(2), told_at(3);
  testing::internal::CaptureStderr();
  notes_.reset();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("s3://b: 2 more retries"));
}

TEST_F(RetryNotesTest, TellAnOutageOfAllRequestsInOneLine) {
  testing::internal::CaptureStderr();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int request = 0; request < 100; ++request)
        notes_->tell_retry("s3://b/x", "reset", 2, 5, 100 + request * 1e-3);
    });
  }
  threads.clear();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  EXPECT_THAT(told_at(111), HasSubstr("(1599 more retries since the last warning)"));
}

// A waiting request is reported once a second.
TEST_F(RetryNotesTest, CountWaitsAsNoRetries) {
  testing::internal::CaptureStderr();
  for (int s = 10; s < 60; ++s) notes_->tell_wait("s3://b/x", s, s);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 5) << told;
  EXPECT_THAT(told_at(100), Not(HasSubstr("more")));
}

TEST_F(RetryNotesTest, TellOfALongWait) {
  testing::internal::CaptureStderr();
  notes_->tell_wait("s3://b/x", 12, 100);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("s3://b/x: the request has been waiting for 12 s"));
  EXPECT_THAT(told_at(101), IsEmpty());
}

class SocketWaitTest : public testing::Test {
 protected:
  SocketWaitTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~SocketWaitTest() override {
    for (const int end : ends_) ::close(end);
  }
  // Waits again and again, as if `bytes` came before each wait, and returns why it had to end.
  std::string reason(const RetryPolicy& limits, std::size_t bytes, bool ends = false) const {
    SocketWait wait(ends_[0], limits, [ends] { return ends; });
    while (true) {
      wait.count(bytes);
      if (std::string reason = wait.wait(POLLIN); !reason.empty()) return reason;
    }
  }
  std::array<int, 2> ends_{};
};

TEST_F(SocketWaitTest, GivesUpOnAServerThatIsSilent) {
  EXPECT_EQ(reason({.timeout_s = 0.1}, 0), "no answer for 0.1 s");
}

TEST_F(SocketWaitTest, GivesUpOnAServerThatDrips) {
  EXPECT_EQ(reason({.timeout_s = 0.1}, 1), "too slow: less than 1000 bytes/s for 0.1 s");
}

TEST_F(SocketWaitTest, GivesATryThatIsFastEnoughTheWholeTime) {
  const double begin_s = now_s();
  EXPECT_EQ(reason({.timeout_s = 0.02}, 1'000'000), "not done after 0.3 s");
  EXPECT_GE(now_s() - begin_s, 0.3);
}

TEST_F(SocketWaitTest, EndsBeforeItWaitsWhereNobodyNeedsTheAnswer) {
  EXPECT_EQ(reason({}, 0, true), "nobody waits for it any more");
}

TEST_F(SocketWaitTest, SaysWhatItBrought) {
  SocketWait wait(ends_[0], {}, [] { return false; });
  EXPECT_EQ(wait.wait(POLLIN), "");
  EXPECT_EQ(wait.ready(), 0);
  ASSERT_EQ(::send(ends_[1], "abcde", 5, 0), 5);
  EXPECT_EQ(wait.wait(POLLIN), "");
  EXPECT_EQ(wait.ready(), POLLIN);
}

}  // namespace
}  // namespace chexbench::storage
