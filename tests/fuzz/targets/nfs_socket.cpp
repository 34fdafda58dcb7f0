// An NFS server's bytes on its socket when a file is read.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "fuzz/fuzz.hpp"
#include "storage/nfs/nfs_reader.hpp"
#include "storage/range_pieces.hpp"

namespace chexbench::fuzz {
namespace {

constexpr std::uint32_t kLastRequest = 0;                       // so the first request is number 1
constexpr std::size_t kLongRange = (std::size_t{5} << 19) + 1;  // three requests, whose answers may come in any order

// Two ends of a connection. The server's bytes fit into it, because inputs are short.
class Connection {
 public:
  Connection() { require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) == 0, "no sockets are left"); }
  ~Connection() {
    for (const int end : ends_) ::close(end);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int client() const { return ends_[0]; }
  void send(Bytes bytes) const { ::send(ends_[1], bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void end() const { ::shutdown(ends_[1], SHUT_WR); }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace

// The first byte decides how much is read, and whether the rest is one answer, which gets a correct mark, or several.
FUZZ_TARGET(nfs_socket, "storage/nfs/nfs_compound.cpp storage/nfs/nfs_reader.cpp") {
  Input input(bytes);
  const unsigned choice = input.byte();
  const Connection connection;
  if (choice % 2 == 0) {
    constexpr unsigned kLastFragment = 0x80;
    const std::size_t size = input.rest().size();
    const std::array<std::byte, 4> mark = {std::byte{kLastFragment}, static_cast<std::byte>(size >> 16),
                                           static_cast<std::byte>(size >> 8), static_cast<std::byte>(size)};
    connection.send(mark);
  }
  connection.send(input.rest());
  connection.end();
  static Buffer long_memory(kLongRange);  // which it would take long to fill with zeros again and again
  Buffer short_memory(choice);
  storage::RangePieces pieces(choice % 16 < 2 ? long_memory : short_memory);
  try {
    storage::NfsReader({}, kLastRequest).read(connection.client(), "handle", "/file", 0, pieces);
  } catch (const storage::NfsFailure& failure) {
    require(!failure.reason.empty(), "a failure has no reason");
  }
  require(pieces.filled() <= bytes.size(), "a file is longer than it came");
}

}  // namespace chexbench::fuzz
