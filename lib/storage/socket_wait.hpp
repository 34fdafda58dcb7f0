// Waits for the socket of a server, as long as a run may wait for a server.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace chexbench::storage {

struct SocketLimits {
  double timeout_s = 20;                              // for which less than kLeastBytesPerS may arrive
  double whole_try_s = 300;                           // for all waits of one SocketWait
  std::function<bool()> ends = [] { return false; };  // is asked before each wait; true ends it
};

// The waits of one try of a request, which begins with the constructor. Not thread-safe.
class SocketWait {
 public:
  // `socket` is still owned by the caller, and must stay open for the lifetime of this object.
  SocketWait(int socket, SocketLimits limits);

  // Records that the server has sent this many bytes.
  void count(std::size_t bytes) { since_bytes_ += bytes; }
  // Waits for poll's `events` for at most 50 ms, with or without them. Returns why the request has failed; empty: try
  // the socket.
  std::string wait(short events);
  // The events of the last wait.
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
