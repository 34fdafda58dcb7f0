#include "storage/retry.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "core/clock.hpp"

namespace chexbench::storage {
namespace {

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
