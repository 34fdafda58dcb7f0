// Compounds of NFSv4 (RFC 7530): several operations on one file that a server answers at once. libnfs's own functions
// take three round trips for what is one compound here, and ask for the names of a file's owner and group: it looks up
// both in the users of this machine, each with dozens of system calls.
#pragma once

#include <nfsc/libnfs-raw-nfs4.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/nfs/nfs_connection.hpp"
#include "storage/socket_wait.hpp"

namespace chexbench::storage {

// The operations of one request, in their order. Holds views of what it was given until it is sent.
class NfsCompound {
 public:
  // Begins at the root of the server, or in a folder by its handle.
  NfsCompound();
  explicit NfsCompound(std::string_view handle);

  // Goes down the names of `path`, which are separated by '/'. Links are not followed: the server refuses what is
  // behind one.
  NfsCompound& look_up(std::string_view path);
  NfsCompound& get_handle();
  NfsCompound& get_attributes();
  // Reads up to `bytes` bytes from `first` on, without an open file: the stateid is the anonymous one.
  NfsCompound& read(std::uint64_t first, std::size_t bytes);

  // The request as libnfs encodes it; valid as long as the compound does not change.
  COMPOUND4args arguments();

 private:
  nfs_argop4& add(nfs_opnum4 operation);

  std::vector<nfs_argop4> operations_;
};

// The results in an answer of status NFS4_OK, or std::nullopt if the server left them out or sent them malformed.
std::optional<std::string> handle_in(const COMPOUND4res& answer);
std::optional<NfsAttributes> attributes_in(const COMPOUND4res& answer);
// The attributes in a result of GETATTR: the words that say which there are, and their values.
std::optional<NfsAttributes> attributes_of(std::span<const std::uint32_t> words, std::span<const std::byte> values);

// What an answer with another status than NFS4_OK means. A server may send any number, and no value outside of its
// range may become an nfsstat4.
NfsFailure failure_of(std::uint32_t status);
// The failure of an errno, by its own text unless there is a reason. Another connection, or a later try, does not fix
// some; libnfs reports NFSv4's own states (grace, expired) as ERANGE, which is temporary.
NfsFailure failure_of(int code, const char* reason);

// Receives the answers of an NFS server from its socket: fragments of records (RFC 5531, 11) that hold XDR (RFC 4506).

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
