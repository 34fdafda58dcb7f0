// Reads files over the socket of a connection to an NFSv4 server (RFC 7530, over RFC 5531), and receives their bytes
// where they stay. libnfs receives each answer into fresh memory of its own, out of which they had to be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/block_pool.hpp"
#include "storage/nfs/nfs_connection.hpp"
#include "storage/socket_wait.hpp"

namespace chexbench::storage {

// Not thread-safe.
class NfsReader {
 public:
  explicit NfsReader(SocketLimits limits);
  // Numbers its requests from the one after `last_request` on; the other constructor takes a random number.
  NfsReader(SocketLimits limits, std::uint32_t last_request);

  // Does what NfsConnection::read() does: `folder` is the handle of the folder in which `path` begins. `socket` must be
  // connected, and nobody else may use it meanwhile.
  // @throws NfsFailure as NfsConnection does
  NfsAttributes read(int socket, std::string_view folder, const std::string& path, std::uint64_t first,
                     RangePieces& pieces);

 private:
  const SocketLimits limits_;
  std::uint32_t last_request_;  // its number, by which answers are told apart
  BlockPool spare_;             // for answers that overtake others
};

}  // namespace chexbench::storage
