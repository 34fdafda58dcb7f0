// The elements that flow between ops: an element is a file, a record, an example or a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/allocator.hpp"
#include "core/batch.hpp"
#include "dataset/dataset.hpp"

namespace chexbench::pipeline {

// Memory for decoded images that is reused: fresh pages for every image would cost more than half as much time as
// decoding it.
class ExamplePool;

// A deleter that returns the memory to its pool. It keeps the pool alive.
struct ReturnToPool {
  std::shared_ptr<ExamplePool> pool;
  void operator()(std::byte* memory) const;
};
using ExampleMemory = std::unique_ptr<std::byte, ReturnToPool>;

// Gives out blocks of one size. The pool itself has no limit: the ops that hold the blocks limit their number.
// Thread-safe. Create it with std::make_shared.
class ExamplePool : public std::enable_shared_from_this<ExamplePool> {
 public:
  explicit ExamplePool(std::size_t block_bytes) : block_bytes_(block_bytes) {}
  ~ExamplePool();
  ExamplePool(const ExamplePool&) = delete;
  ExamplePool& operator=(const ExamplePool&) = delete;

  // Returns a block of block_bytes(), aligned to 64 bytes, with undefined contents. Does not wait.
  // @throws std::bad_alloc
  ExampleMemory acquire();
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  friend struct ReturnToPool;
  void put_back(std::byte* memory);

  const std::size_t block_bytes_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

// A file of the data set. `file` is an index into Dataset::shards if the format has shards, else (images, cached) into
// Dataset::images.
struct FileRef {
  std::uint32_t file = 0;
};

// One image that is not decoded yet.
// - Formats images and cached: usually a handle without bytes; the op that decodes the image reads its bytes. A
//   parallel interleave on a distant store and a cache of records read them earlier.
// - Formats of shards: a view of the record in the mapped shard, which needs no copy and no anonymous memory. If the
//   shard is compressed or its store is not local, it is a copy.
struct Record {
  std::uint32_t file = 0;                   // the same index as FileRef::file
  std::uint64_t offset = 0;                 // of the record in the shard, in bytes
  std::span<const std::byte> bytes;         // empty if they have not been read yet
  std::shared_ptr<const void> bytes_owner;  // keeps `bytes` alive
  // For a record of a shard: its checksum. The op that decodes or keeps the record compares it (check_record()).
  std::optional<std::uint32_t> unchecked_crc;
};

// One decoded and preprocessed image, which owns its memory.
struct Example {
  ExampleMemory image;  // BatchShape::image_bytes() bytes
  LabelBits labels;
  ExampleId id;
};

// Move-only, because examples and batches are.
struct Element {
  std::uint32_t epoch = 0;  // the source's epoch when it gave this element; a batch also has the epoch of each image
  std::variant<std::monostate, FileRef, Record, Example, BatchLease> value;

  // The number of decoded images in it.
  std::int64_t images() const;
  // The memory of its decoded images, in bytes; 0 for files and records. `image_bytes` is the size of one image.
  std::int64_t held_bytes(std::size_t image_bytes) const;
};

// Writes each label as 0, 1 or kIgnoredLabel, in the order of Dataset::label_names, which has as many entries as `out`.
void expand_labels(const LabelBits& labels, std::span<float> out);

}  // namespace chexbench::pipeline
