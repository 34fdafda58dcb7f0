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

#include "formats/inflated_stream.hpp"
#include "formats/shard_reader.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {

inline constexpr std::size_t kRecordHeaderBytes = 12;
inline constexpr std::size_t kRecordFooterBytes = 4;
// A longer record is refused as damage, whatever its checksum says.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;

// Whether a file that begins with `head` (kRecordHeaderBytes, or the whole file) is a compressed shard: a GZIP or ZLIB
// header where the CRC of a record's length would be wrong.
bool is_compressed_tfrecord(std::span<const std::byte> head);

// The records of one shard in their order, of one compressed as TensorFlow's TFRecordOptions "GZIP" and "ZLIB" do, too:
// the file's first bytes tell. Example:
//   TfRecordReader reader(MappedFile::open(path));
//   while (const std::optional<ShardRecord> record = reader.next()) use(record->data);
class TfRecordReader final : public ShardReader {
 public:
  explicit TfRecordReader(std::unique_ptr<storage::ByteStream> stream) : stream_(std::move(stream)) {}
  explicit TfRecordReader(std::shared_ptr<const storage::MappedFile> file);

  // After damage to a record's data the next one follows; after damage to its length nothing does, because nothing
  // says where the next begins, and none after damage to a compressed stream.
  std::optional<ShardRecord> next() override;

 private:
  storage::SharedBytes take(std::uint64_t bytes);
  storage::SharedBytes take_header();
  storage::SharedBytes take_first_header();
  std::uint64_t left() const;
  std::uint64_t checked_length(std::span<const std::byte> header) const;
  std::uint64_t stored_bytes(const ShardRecord& record);
  [[noreturn]] void give_up(const std::string& reason) const;

  std::unique_ptr<storage::ByteStream> stream_;
  const InflatedStream* inflated_ = nullptr;  // the stream, where the shard is compressed
  std::uint64_t taken_ = 0;                   // of the stream
  std::uint64_t record_ = 0;                  // where the record begins that is being read
  std::uint64_t packed_ = 0;                  // of a compressed shard: what was read for the records so far
  bool ended_ = false;
};

// The frame around a record's data, for writers.
struct TfRecordFrame {
  std::array<std::byte, kRecordHeaderBytes> header;
  std::array<std::byte, kRecordFooterBytes> footer;
};
TfRecordFrame frame_record(std::span<const std::byte> data);

}  // namespace chexbench::formats
