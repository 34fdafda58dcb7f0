// Receives the answers of an NFS server from its socket: fragments of records (RFC 5531, 11) that hold XDR (RFC 4506).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/nfs/nfs_connection.hpp"
#include "storage/socket_wait.hpp"

namespace chexbench::storage {

inline constexpr std::uint32_t kLastNfsFragment = 0x80000000;  // the bit of a fragment's mark that says so

// The answers on one socket, one after the other. Not thread-safe.
// @throws NfsFailure from every function that receives or sends: if the connection is lost, an answer does not come in
// time or is shorter than what is taken from it, or limits.ends() is true
class NfsAnswers {
 public:
  NfsAnswers(int socket, const SocketLimits& limits) : socket_(socket), wait_(socket, limits) {}

  // Sends requests.
  void send(std::span<const std::byte> requests);
  // Waits for the next answer, whose parts are taken then.
  void begin();
  std::uint32_t take_word();
  // Takes bytes that are preceded by their number, which must be at most `most`, and followed by a padding.
  std::vector<std::byte> take_opaque(std::size_t most);
  // Takes at least one byte, and as many as have come and fit, straight from the socket if it can.
  std::size_t take_some(std::span<std::byte> into);
  void take(std::span<std::byte> into);
  // Drops what is left of the answer.
  void end();
  [[noreturn]] static void lose(const std::string& reason);

 private:
  void wait(short events);
  std::size_t receive(std::span<std::byte> into);
  void receive_all(std::span<std::byte> into);
  // Goes on to the next fragment if this one was received as a whole; false if it was the last one.
  bool go_on();

  const int socket_;
  SocketWait wait_;
  std::array<std::byte, 256> head_{};   // received ahead, because the words of an answer come one by one
  std::span<const std::byte> ready_{};  // what of it was not taken yet
  std::size_t left_ = 0;                // bytes of the fragment that were not received yet
  bool is_last_ = false;                // fragment of the answer
  std::size_t answer_bytes_ = 0;        // of all its fragments so far
};

}  // namespace chexbench::storage
