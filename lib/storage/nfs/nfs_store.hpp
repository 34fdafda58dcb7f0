// The store of nfs://host[:port]/export/folder: an NFSv4 client inside this process, for machines that may not mount
// file systems. A mounted NFS is a plain path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/range_stream.hpp"
#include "storage/retry.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {

// The server and folder of a connection.
struct NfsPlace {
  std::string host;
  int port = 2049;
  std::string folder;  // on the server, begins with '/'; may be below an export
  RetryPolicy limits;  // its timeouts; NfsStore does the retries
};

struct NfsAttributes {
  StoreEntry::Kind kind = StoreEntry::Kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t changed_s = 0;  // the time of its last change since 1970, by the server's clock
  std::uint64_t changed_ns = 0;
};

struct NfsEntry {
  std::string name;
  NfsAttributes attributes;
};

// The exception of NfsConnection: why a request got no answer, or a negative one. NfsStore turns it into a DataError.
struct NfsFailure {
  std::string reason;
  bool is_temporary = false;  // another connection may succeed
  bool is_absent = false;     // there is no such file or folder
};

// A connection to a server. Not thread-safe, but several connections in one process do not interfere. Paths begin with
// '/' and are relative to NfsPlace::folder.
// @throws NfsFailure from every function; do not use the connection after one
class NfsConnection {
 public:
  virtual ~NfsConnection() = default;
  // Returns the entries of the folder. Does not follow links: their kind is `other`.
  virtual std::vector<NfsEntry> list(const std::string& folder) = 0;
  virtual NfsAttributes attributes(const std::string& path) = 0;
  // Whether the connection is still open; the server may have closed it while idle.
  virtual bool is_open() const { return true; }
  // Fills `pieces` with the bytes of the file from byte `first` on, with all requests in flight at once. They stay
  // incomplete if the file ends earlier. Returns the attributes of the file.
  virtual NfsAttributes read(const std::string& path, std::uint64_t first, RangePieces& pieces) = 0;
};

// Connects to a server. Every wait of the connection ends within 0.1 s, with a failure, once `ends()` is true.
// @throws NfsFailure if there is no connection, or no such export or folder
using NfsConnect = std::function<std::unique_ptr<NfsConnection>(const NfsPlace& place, std::function<bool()> ends)>;

// Returns a function that connects by libnfs. Thread-safe.
// @throws DataError if this build has no libnfs
NfsConnect nfs_connect();

// The blocks in which a range of a file is requested, all at once. Reorders the bytes of answers, which may arrive out
// of order.
class NfsBlocks {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;  // of a block: the size that servers grant

  // Of the bytes from `first` on that fill `pieces`. An empty range has one block, for the attributes of the file.
  NfsBlocks(std::uint64_t first, RangePieces& pieces) : pieces_(pieces) {
    std::size_t at = 0;
    do {
      const std::size_t bytes = std::min(kBytes, pieces.size() - at);
      blocks_.push_back({.first = first + at, .bytes = bytes});
      at += bytes;
    } while (at < pieces.size());
  }

  std::size_t count() const { return blocks_.size(); }
  // Where in the file the missing bytes of a block begin, and how many they are.
  std::uint64_t first_missing(std::size_t block) const { return blocks_[block].first + blocks_[block].done; }
  std::size_t missing(std::size_t block) const { return blocks_[block].bytes - blocks_[block].done; }

  // Takes the next bytes of a block, no more than it is missing.
  void take(std::size_t block, std::span<const std::byte> bytes) {
    Block& taken = blocks_[block];
    taken.done += bytes.size();
    if (block != next_) {
      taken.early.insert(taken.early.end(), bytes.begin(), bytes.end());
      return;
    }
    pieces_.append(bytes);
    while (missing(next_) == 0 && ++next_ < count()) pieces_.append(std::exchange(blocks_[next_].early, {}));
  }

 private:
  struct Block {
    std::uint64_t first = 0;
    std::size_t bytes = 0;
    std::size_t done = 0;               // bytes that were received
    std::vector<std::byte> early = {};  // received ahead of earlier blocks
  };

  RangePieces& pieces_;
  std::vector<Block> blocks_;
  std::size_t next_ = 0;  // the next block in order: all before it are complete
};

// Returns a store that opens up to 16 connections by `connect`, as it needs them. Sends no request yet. `root` comes
// from parse_url().
// @throws DataError if `root` names no export, or no valid port after the ':'
std::unique_ptr<Store> make_nfs_store(const Url& root, NfsConnect connect, const RetryPolicy& policy);

}  // namespace chexbench::storage
