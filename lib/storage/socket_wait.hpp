// Waits for the socket of a server, as long as a run may wait for a server.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace chexbench::storage {

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

  // Says that the server has sent this many bytes.
  void count(std::size_t bytes) { since_bytes_ += bytes; }
  // Waits for poll's `events`, for 50 ms at most; they need not have come then. Returns why the request has
  // failed; empty: try the socket.
  std::string wait(short events);
  // The events that the last wait brought.
  short ready() const { return ready_; }

 private:
  std::string overdue(double time_s);

  const int socket_;
  const SocketLimits limits_;
  const double begin_s_;
  double since_s_;               // when the current window of limits_.timeout_s began
  std::size_t since_bytes_ = 0;  // that came in it
  short ready_ = 0;
};

}  // namespace chexbench::storage
