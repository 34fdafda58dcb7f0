// One connection to an NFS server. What to make of its failures is nfs_store.hpp's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::storage {

// Where a connection leads, and how long it waits.
struct NfsPlace {
  std::string host;
  int port = 2049;
  std::string folder;     // of the server, begins with '/'; may lie below an export
  double timeout_s = 20;  // to connect, and with no answer coming in
};

struct NfsAttributes {
  StoreEntry::Kind kind = StoreEntry::Kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t changed_s = 0;  // the time of its last change, by the server's clock
  std::uint64_t changed_ns = 0;
};

struct NfsEntry {
  std::string name;
  NfsAttributes attributes;
};

// Why a request got no answer, or not the one that was wanted.
struct NfsFailure {
  std::string reason;
  bool is_temporary = false;  // it may be gone on another connection
  bool is_absent = false;     // there is no such file or folder
};

// Not thread-safe; several connections of a process do not disturb each other. Paths begin with '/', below the place's
// folder. All functions @throw NfsFailure; the connection is good for nothing after one.
class NfsConnection {
 public:
  virtual ~NfsConnection() = default;
  // What the folder holds; links are not followed.
  virtual std::vector<NfsEntry> list(const std::string& folder) = 0;
  virtual NfsAttributes attributes(const std::string& path) = 0;
  struct Piece {
    std::size_t bytes = 0;  // that came: fewer than asked for where the file ends before
    NfsAttributes attributes;
  };
  // Fills `part` with the file's bytes from `first` on: all of its requests are under way at once.
  virtual Piece read(const std::string& path, std::uint64_t first, std::span<std::byte> part) = 0;
};

// A wait ends within 0.1 s, with a failure, once `ends` is true. @throws NfsFailure
using NfsConnect = std::function<std::unique_ptr<NfsConnection>(const NfsPlace& place, std::function<bool()> ends)>;

// By libnfs. @throws DataError where this build has none
NfsConnect nfs_connect();

}  // namespace chexbench::storage
