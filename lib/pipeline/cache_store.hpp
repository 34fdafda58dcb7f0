// Where the cache op keeps its elements: as blobs in memory, or as blobs in a memory-mapped file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "pipeline/op.hpp"

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

// Converts elements to blobs of bytes and back, for the cache op.
// Not thread-safe. Only the process that wrote a blob can read it: blobs are not an exchange format.
class CacheCodec {
 public:
  explicit CacheCodec(Op& op) : op_(op) {}

  // If `element` is a record that has no bytes yet (a PNG's handle), reads the file's bytes into it and books them to
  // the op; compares the checksum of a shard's record. Does nothing for other elements.
  // @throws DataError if the file cannot be read or the record is damaged
  void load(Element& element);
  // The bytes that add() would add for `element`, which must be a loaded record or an example.
  std::size_t bytes_of(const Element& element) const;
  // The key that identifies `element`, a record or an example, in later epochs.
  static KeptElements::value_type key_of(const Element& element);
  // Adds a copy of `element`, which must be loaded, to `store`. Returns the bytes added.
  // @throws OutputError if a file cannot be written
  std::size_t add(const Element& element, CacheStore& store);
  // Returns the element that add() stored, with `epoch` as its epoch. Records are views into the blob; images are
  // copied out of it, because the ops that follow may change or keep them. Restoring a batch may wait for the batch
  // pool; the lease is empty once stopped.
  Element restore(const CachedBlob& blob, std::uint32_t epoch, const std::stop_token& stop);

 private:
  class Reader;
  Example restore_example(Reader& reader, std::uint32_t epoch);
  BatchLease restore_batch(Reader& reader, std::uint32_t images, std::uint32_t epoch, const std::stop_token& stop);

  Op& op_;
};

}  // namespace chexbench::pipeline
