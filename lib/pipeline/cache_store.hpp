// Where the cache op keeps its elements: as blobs in memory, or as blobs in a memory-mapped file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace chexbench::pipeline {

// One blob of a store. `bytes` is valid as long as `owner` is held.
struct CachedBlob {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// A store is filled once, by one thread, and then only read. It is not thread-safe while it is filled; afterwards any
// number of threads may call size() and at().
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  // Adds one blob: a copy of `header` followed by a copy of `payload`.
  // @throws OutputError if a file cannot be written
  virtual void add(std::span<const std::byte> header, std::span<const std::byte> payload) = 0;
  // Ends the filling. at() may be called only after it.
  // @throws OutputError if the file cannot be written or renamed
  // @throws DataError if the file cannot be mapped
  virtual void finish() = 0;
  virtual std::size_t size() const = 0;
  virtual CachedBlob at(std::size_t i) const = 0;
};

std::unique_ptr<CacheStore> make_memory_store();

// The store writes to a temporary file next to `path`; finish() renames it to `path` and replaces an earlier file of
// that name. A store that is destroyed before finish() leaves no file.
// @throws OutputError if the temporary file cannot be created
std::unique_ptr<CacheStore> make_file_store(const std::string& path);

}  // namespace chexbench::pipeline
