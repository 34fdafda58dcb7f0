// Reads TFRecord shards and frames records for writing. A record is, in little endian: u64 length | u32 masked crc32c
// of the length | data | u32 masked crc32c of the data. Source: tensorflow/core/lib/io/record_writer.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "formats/inflated_stream.hpp"
#include "formats/shards.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {

inline constexpr std::size_t kRecordHeaderBytes = 12;
inline constexpr std::size_t kRecordFooterBytes = 4;
// A longer record counts as damage even if its checksum is right.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;
// The same in a compressed shard, where a small file can ask for much memory (deflate expands one byte to up to 1032).
// The largest image that decoders accept by default has no more bytes at 24 bits a pixel.
inline constexpr std::uint64_t kMaxInflatedRecordBytes = std::uint64_t{1} << 28;

// Returns whether a file that begins with `head` is a compressed shard: it then has a GZIP or ZLIB header, and the CRC
// of what would be a record's length is wrong. `head` is the first kRecordHeaderBytes bytes, or the whole file if it is
// shorter.
bool is_compressed_tfrecord(std::span<const std::byte> head);

// Returns the records of one shard in their order. The file's first bytes decide whether it is compressed, like
// TensorFlow's TFRecordOptions "GZIP" and "ZLIB". Not thread-safe. Example:
//   TfRecordReader reader(MappedFile::open(path));
//   while (const std::optional<ShardRecord> record = reader.next()) use(record->data);
class TfRecordReader final : public ShardReader {
 public:
  explicit TfRecordReader(std::unique_ptr<storage::ByteStream> stream, DataCheck check = DataCheck::in_next);
  // Leaves the CRCs of records' data unchecked from now on, so that a mapped shard is not read as a whole if only names
  // and labels are needed.
  void leave_data_unchecked() { check_ = DataCheck::later; }
  explicit TfRecordReader(std::shared_ptr<const storage::MappedFile> file);

  // After damage to a record's data, the next call returns the next record. After damage to its length, or to a
  // compressed stream, it returns std::nullopt, because the start of the next record is unknown.
  // @throws DataError as ShardReader::next()
  std::optional<ShardRecord> next() override;

 private:
  storage::SharedBytes take(std::uint64_t bytes);
  storage::SharedBytes take_header();
  storage::SharedBytes take_first_header();
  std::uint64_t left() const;
  std::uint64_t checked_length(std::span<const std::byte> header) const;
  std::uint64_t stored_bytes(const ShardRecord& record);
  [[noreturn]] void give_up(const std::string& reason) const;

  DataCheck check_;
  std::unique_ptr<storage::ByteStream> stream_;
  const InflatedStream* inflated_ = nullptr;  // stream_ if the shard is compressed, else null
  std::uint64_t taken_ = 0;                   // bytes taken from the stream
  std::uint64_t record_ = 0;                  // offset of the record that is being read
  std::uint64_t packed_ = 0;                  // compressed bytes that were read for the records so far
  bool ended_ = false;
};

// Compares a record's data with its ShardRecord::unchecked_crc. Thread-safe.
// @throws DataError, as TfRecordReader::next() would have done, if they differ
void check_data(std::span<const std::byte> data, const RecordOrigin& origin, std::uint32_t unchecked_crc);

// The bytes before and after a record's data.
struct TfRecordFrame {
  std::array<std::byte, kRecordHeaderBytes> header;
  std::array<std::byte, kRecordFooterBytes> footer;
};
// Returns the frame of a record with this data. Thread-safe.
TfRecordFrame frame_record(std::span<const std::byte> data);

}  // namespace chexbench::formats
