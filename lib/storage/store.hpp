// Where the bytes of a data set come from: a folder, or a server that is asked for objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "storage/file_bytes.hpp"

namespace chexbench::storage {

// What lies in a folder of a store.
struct StoreEntry {
  enum class Kind { file, folder, other };
  std::string name;
  Kind kind = Kind::file;
  std::optional<std::uint64_t> bytes;  // of a file, where the store's listing tells
};

// Bytes, valid as long as `owner` is held.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The size of a stream whose end nobody has seen yet.
inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

// The bytes of one file from its beginning, once. Not thread-safe. Must not outlive its store.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual const std::string& path() const = 0;
  virtual std::uint64_t size() const = 0;
  // The next `bytes` bytes, of which that many must be left; fewer only where the stream was stopped, or met the end of
  // an unknown size.
  // @throws DataError naming the file and the reason; nothing can be taken after it
  virtual SharedBytes take(std::size_t bytes) = 0;
};

// Thread-safe. A path is the root and, behind a '/', names that list() gave or that a layout prescribes; it holds no
// secret and stands in messages as it is. All functions @throw DataError naming the path and the reason.
class Store {
 public:
  virtual ~Store() = default;
  // What the folder holds, in no order; nothing where there is no such folder.
  virtual std::vector<StoreEntry> list(const std::string& folder) const = 0;
  // Bytes of the file; nothing where there is none.
  virtual std::optional<std::uint64_t> size(const std::string& path) const = 0;
  // The whole file; the view is valid until the buffer's next use.
  virtual std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const = 0;
  // Reads ahead where that is worth it. After `stop` what waits in it returns soon.
  virtual std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token stop) const = 0;
  // Files of this machine's own file systems, mapped and cached by its kernel.
  virtual bool is_local() const = 0;
  // Reads mostly wait for something that no core of this machine works on: several at once are worth their threads.
  virtual bool is_distant() const { return !is_local(); }
};

}  // namespace chexbench::storage
