#include "storage/socket_wait.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/clock.hpp"
#include "storage/retry.hpp"

namespace chexbench::storage {
namespace {

constexpr int kLookMs = 50;  // how often a wait checks whether it should end

}  // namespace

SocketWait::SocketWait(int socket, SocketLimits limits)
    : socket_(socket), limits_(std::move(limits)), begin_s_(now_s()), since_s_(begin_s_) {}

std::string SocketWait::wait(short events) {
  if (limits_.ends()) return "nobody waits for it any more";
  pollfd socket{socket_, events, 0};
  if (::poll(&socket, 1, kLookMs) < 0 && errno != EINTR) return std::strerror(errno);
  ready_ = socket.revents;
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

}  // namespace chexbench::storage
