// The interface through which the records of one shard are read, whatever its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace chexbench::formats {

// Where a record came from. Only error messages use it.
struct RecordOrigin {
  std::string_view file = "tf.Example";
  std::uint64_t offset = 0;  // of the record in the file, in bytes
};

// Who compares the checksum of a record's data, where the format has one.
enum class DataCheck {
  in_next,  // ShardReader::next()
  later     // whoever uses the record, with check_data(): it needs the data in the cache of its core anyway
};

// One record. `data` is a view of the mapped file if the shard is mapped and not compressed; it is valid as long as
// `owner` is held.
struct ShardRecord {
  std::span<const std::byte> data;
  std::uint64_t offset = 0;        // of the record's first byte in the shard; in the inflated bytes if it is compressed
  std::uint64_t stored_bytes = 0;  // how many bytes of the shard were read for the record
  std::shared_ptr<const void> owner;
  std::optional<std::uint32_t> unchecked_crc;  // for check_data(); none if there is nothing left to check
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
