// Waits for the socket of a server, as long as a run may wait for a server.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace chexbench::storage {

inline constexpr int kSocketLookMs = 50;  // how often a wait checks whether it should end

struct SocketLimits {
  double timeout_s = 20;                              // with less than kLeastBytesPerS coming in
  double whole_try_s = 300;                           // for all waits of one SocketWait
  std::function<bool()> ends = [] { return false; };  // is asked before each wait; true ends it
};

// The waits of one try of a request, which begins when this is made. Not thread-safe.
class SocketWait {
 public:
  // `socket` stays the caller's, and must be open until this is destroyed.
  SocketWait(int socket, SocketLimits limits);
  ~SocketWait() { wake_at(1); }
  SocketWait(const SocketWait&) = delete;
  SocketWait& operator=(const SocketWait&) = delete;

  // Says that the server has sent this many bytes.
  void count(std::size_t bytes) { since_bytes_ += bytes; }
  // Waits for poll's `events`, for `kSocketLookMs` at most; they need not have come then. A wait for POLLIN is over
  // when `bytes` bytes can be received, or the connection ends. Returns why the request has failed; empty: try the
  // socket.
  std::string wait(short events, std::size_t bytes);

 private:
  void wake_at(std::size_t bytes);
  std::string overdue(double time_s);

  const int socket_;
  const SocketLimits limits_;
  const double begin_s_;
  double since_s_;               // when the current window of limits_.timeout_s began
  std::size_t since_bytes_ = 0;  // that came in it
  int wakes_at_ = 1;             // SO_RCVLOWAT of the socket
};

}  // namespace chexbench::storage
