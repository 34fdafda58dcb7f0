// Where the cache op keeps elements: as blobs in memory, or in a file that is mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace chexbench::pipeline {

// A blob that was kept; valid as long as `owner` is held.
struct CachedBlob {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Filled once, from one thread; then read.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  // Keeps a copy of `header` followed by `payload`. @throws OutputError where a file cannot be written
  virtual void add(std::span<const std::byte> header, std::span<const std::byte> payload) = 0;
  // Nothing more will be added: from now on at() works. @throws OutputError, DataError
  virtual void finish() = 0;
  virtual std::size_t size() const = 0;
  virtual CachedBlob at(std::size_t i) const = 0;
};

std::unique_ptr<CacheStore> make_memory_store();

// The file is written to a temporary name and renamed by finish(); one that is there is replaced. A store destroyed
// before that leaves nothing behind.
std::unique_ptr<CacheStore> make_file_store(const std::string& path);

}  // namespace chexbench::pipeline
