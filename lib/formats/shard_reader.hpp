// The records of one shard, whatever its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace chexbench::formats {

// One record, valid as long as `owner` is held; of a mapped shard a view.
struct ShardRecord {
  std::span<const std::byte> data;
  std::uint64_t offset = 0;        // of its first byte in the shard; of a compressed shard in what it holds
  std::uint64_t stored_bytes = 0;  // that were read of the shard for it
  std::shared_ptr<const void> owner;
};

// Not thread-safe.
class ShardReader {
 public:
  virtual ~ShardReader() = default;
  // The next record, or nothing at the end, or once the stream was stopped.
  // @throws DataError naming file, offset and reason. The reader can go on after it: at the next record where the
  // damage leaves its place known; else at the end (nothing follows), as where the stream failed.
  virtual std::optional<ShardRecord> next() = 0;
};

}  // namespace chexbench::formats
