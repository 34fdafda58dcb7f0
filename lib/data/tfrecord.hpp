// TFRecord shards. Framing, little endian: u64 length | masked crc32c of it | data | masked crc32c of the data.
// Source: tensorflow/core/lib/io/record_writer.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "data/store/store.hpp"

namespace chexbench::data {

inline constexpr std::size_t kRecordHeaderBytes = 12;
inline constexpr std::size_t kRecordFooterBytes = 4;
// A longer record is refused as damage, whatever its checksum says.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;

// One record, valid as long as `owner` is held; of a mapped shard a view.
struct TfRecord {
  std::span<const std::byte> data;
  std::uint64_t offset = 0;  // of the record's header in the file
  std::shared_ptr<const void> owner;
};

// The records of one shard in their order. Not thread-safe. Example:
//   TfRecordReader reader(MappedFile::open(path));
//   while (const std::optional<TfRecord> record = reader.next()) use(record->data);
class TfRecordReader {
 public:
  explicit TfRecordReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
  explicit TfRecordReader(std::shared_ptr<const MappedFile> file);

  // The next record, or nothing at the end, or once the stream was stopped.
  // @throws DataError naming file, offset and reason. The reader can go on after it: at the next record where only
  // the data was damaged; at the end (nothing follows) where the length was, because nothing says where the next
  // begins, and where the stream failed.
  std::optional<TfRecord> next();

  std::uint64_t offset() const { return offset_; }  // of the next record

 private:
  std::uint64_t checked_length(std::span<const std::byte> header, std::uint64_t at) const;
  [[noreturn]] void give_up(std::uint64_t at, const std::string& reason) const;

  std::unique_ptr<ByteStream> stream_;
  std::uint64_t offset_ = 0;
};

// The frame around a record's data, for writers.
struct TfRecordFrame {
  std::array<std::byte, kRecordHeaderBytes> header;
  std::array<std::byte, kRecordFooterBytes> footer;
};
TfRecordFrame frame_record(std::span<const std::byte> data);

}  // namespace chexbench::data
