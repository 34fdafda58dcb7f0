// The interface through which the records of one shard are read, whatever its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace chexbench::formats {

// One record. `data` is a view of the mapped file if the shard is mapped and not compressed; it is valid as long as
// `owner` is held.
struct ShardRecord {
  std::span<const std::byte> data;
  std::uint64_t offset = 0;        // of the record's first byte in the shard; in the inflated bytes if it is compressed
  std::uint64_t stored_bytes = 0;  // how many bytes of the shard were read for the record
  std::shared_ptr<const void> owner;
};

// Not thread-safe.
class ShardReader {
 public:
  virtual ~ShardReader() = default;
  // Returns the next record, or std::nullopt at the end of the shard or once the stream was stopped.
  // @throws DataError naming file, offset and reason if the shard is damaged or cannot be read. next() may be called
  // again: it returns the record after the damaged one if its place is still known, else std::nullopt.
  virtual std::optional<ShardRecord> next() = 0;
};

}  // namespace chexbench::formats
