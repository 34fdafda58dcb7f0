#include "storage/socket_wait.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "core/clock.hpp"
#include "storage/retry.hpp"

namespace chexbench::storage {

SocketWait::SocketWait(int socket, SocketLimits limits)
    : socket_(socket), limits_(std::move(limits)), begin_s_(now_s()), since_s_(begin_s_) {}

std::string SocketWait::wait(short events, std::size_t bytes) {
  if (limits_.ends()) return "nobody waits for it any more";
  wake_at(bytes);
  pollfd socket{socket_, events, 0};
  if (::poll(&socket, 1, kSocketLookMs) < 0 && errno != EINTR) return std::strerror(errno);
  return overdue(now_s());
}

std::string SocketWait::overdue(double time_s) {
  if (time_s > begin_s_ + limits_.whole_try_s) return fmt::format("not done after {} s", limits_.whole_try_s);
  if (time_s < since_s_ + limits_.timeout_s) return {};
  if (since_bytes_ == 0) return fmt::format("no answer for {} s", limits_.timeout_s);
  if (static_cast<double>(since_bytes_) < kLeastBytesPerS * limits_.timeout_s) {
    return fmt::format("too slow: less than {} bytes/s for {} s", kLeastBytesPerS, limits_.timeout_s);
  }
  since_s_ = time_s;
  since_bytes_ = 0;
  return {};
}

// Lets the kernel wake this thread when so many bytes are there, instead of for each packet.
void SocketWait::wake_at(std::size_t bytes) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  const int least = static_cast<int>(std::clamp<std::size_t>(bytes, 1, kMost));
  if (wakes_at_ == least) return;
  wakes_at_ = least;
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);  // it is woken more often if this fails
}

}  // namespace chexbench::storage
