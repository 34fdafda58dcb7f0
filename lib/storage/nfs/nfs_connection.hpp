// A connection to an NFS server. nfs_store.hpp interprets its failures and decides what to retry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/range_pieces.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The server and folder of a connection, and how long it waits.
struct NfsPlace {
  std::string host;
  int port = 2049;
  std::string folder;        // on the server, begins with '/'; may be below an export
  double timeout_s = 20;     // to connect, and without an answer coming in
  double whole_try_s = 300;  // for all answers of one call
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

// Not thread-safe, but several connections in one process do not interfere. Paths begin with '/' and are relative to
// NfsPlace::folder.
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

}  // namespace chexbench::storage
