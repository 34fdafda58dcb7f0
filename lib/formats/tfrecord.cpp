#include "formats/tfrecord.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "formats/crc32c.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord fields are read and written as they are in memory");

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

DataError bad_record(const RecordOrigin& origin, std::string_view reason) {
  return DataError(fmt::format("{}: record at offset {}: {}", origin.file, origin.offset, reason));
}

// Returns whether the CRC in a record's header is that of the length before it.
bool has_right_length_crc(std::span<const std::byte> header) {
  constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
  return mask_crc(crc32c(header.first(kLengthBytes))) == load<std::uint32_t>(header.data() + kLengthBytes);
}

// Returns the first position that looks like a record's header, whose CRC is right by chance at one position in 2^32.
std::optional<storage::FoundPiece> find_record(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + kRecordHeaderBytes <= bytes.size();) {
    if (bytes[at + 7] != std::byte{0}) {  // of the length, whose last four bytes are 0: they cannot be in between
      at += 4;
      continue;
    }
    const auto length = load<std::uint64_t>(bytes.data() + at);
    if (length > 0 && length <= kMaxRecordBytes && has_right_length_crc(bytes.subspan(at, kRecordHeaderBytes))) {
      return storage::FoundPiece{.at = at, .bytes = kRecordHeaderBytes + length + kRecordFooterBytes};
    }
    ++at;
  }
  return {};
}

}  // namespace

bool is_compressed_tfrecord(std::span<const std::byte> head) {
  return looks_compressed(head) && !(head.size() >= kRecordHeaderBytes && has_right_length_crc(head));
}

TfRecordReader::TfRecordReader(std::unique_ptr<storage::ByteStream> stream, DataCheck check)
    : check_(check), stream_(std::move(stream)) {
  stream_->expect({.head_bytes = kRecordHeaderBytes, .find = &find_record});
}

TfRecordReader::TfRecordReader(std::shared_ptr<const storage::MappedFile> file)
    : TfRecordReader(storage::stream_mapped(std::move(file))) {}

void TfRecordReader::give_up(const std::string& reason) const {
  throw bad_record({stream_->path(), record_}, reason + "; the rest of the file cannot be read");
}

// Returns how many bytes are left. The result is huge for a compressed shard until its end has been reached, because
// its size is kUnknownBytes.
std::uint64_t TfRecordReader::left() const { return stream_->size() - taken_; }

storage::SharedBytes TfRecordReader::take(std::uint64_t bytes) {
  storage::SharedBytes taken = stream_->take(static_cast<std::size_t>(std::min(bytes, left())));
  taken_ += taken.bytes.size();
  return taken;
}

storage::SharedBytes TfRecordReader::take_first_header() {
  storage::SharedBytes head = take(kRecordHeaderBytes);
  if (!is_compressed_tfrecord(head.bytes)) return head;
  auto inflated = inflate_stream(std::move(stream_), std::move(head));
  inflated_ = inflated.get();
  stream_ = std::move(inflated);
  taken_ = 0;
  return take(kRecordHeaderBytes);
}

storage::SharedBytes TfRecordReader::take_header() {
  return taken_ == 0 ? take_first_header() : take(kRecordHeaderBytes);
}

std::uint64_t TfRecordReader::checked_length(std::span<const std::byte> header) const {
  if (!has_right_length_crc(header)) give_up("the CRC of its length is wrong");
  const auto length = load<std::uint64_t>(header.data());
  const std::uint64_t most = inflated_ == nullptr ? kMaxRecordBytes : kMaxInflatedRecordBytes;
  if (length > most) {
    give_up(fmt::format("absurd length of {} bytes (at most {} are accepted{})", length, most,
                        inflated_ == nullptr ? "" : " in a compressed shard"));
  }
  return length;
}

std::uint64_t TfRecordReader::stored_bytes(const ShardRecord& record) {
  if (inflated_ == nullptr) return kRecordHeaderBytes + record.data.size() + kRecordFooterBytes;
  const std::uint64_t before = std::exchange(packed_, inflated_->packed_bytes_read());
  return packed_ - before;
}

std::optional<ShardRecord> TfRecordReader::next() {
  if (ended_) return std::nullopt;
  ended_ = true;  // if anything fails before the record's end is known, no further record can be found
  record_ = taken_;
  const storage::SharedBytes header = take_header();
  if (header.bytes.size() < kRecordHeaderBytes) {
    if (left() > 0 || header.bytes.empty()) return std::nullopt;  // the stream was stopped, or this is the end
    give_up(fmt::format("truncated: {} bytes are left, but a header has {}", header.bytes.size(), kRecordHeaderBytes));
  }
  const std::uint64_t length = checked_length(header.bytes);
  storage::SharedBytes body = take(length + kRecordFooterBytes);
  if (body.bytes.size() < length + kRecordFooterBytes) {
    if (left() > 0) return std::nullopt;
    give_up(fmt::format("truncated: it needs {} bytes, {} are left", kRecordHeaderBytes + length + kRecordFooterBytes,
                        kRecordHeaderBytes + body.bytes.size()));
  }
  ended_ = false;
  ShardRecord record{.data = body.bytes.first(length), .offset = record_, .owner = std::move(body.owner)};
  record.stored_bytes = stored_bytes(record);
  const auto crc = load<std::uint32_t>(body.bytes.data() + length);
  if (check_ == DataCheck::later) {
    record.unchecked_crc = crc;
  } else {
    check_data(record.data, {stream_->path(), record_}, crc);
  }
  return record;
}

void check_data(std::span<const std::byte> data, const RecordOrigin& origin, std::uint32_t unchecked_crc) {
  if (mask_crc(crc32c(data)) != unchecked_crc) throw bad_record(origin, "the CRC of its data is wrong");
}

TfRecordFrame frame_record(std::span<const std::byte> data) {
  TfRecordFrame frame;
  const std::uint64_t length = data.size();
  std::memcpy(frame.header.data(), &length, sizeof length);
  const std::uint32_t length_crc = mask_crc(crc32c({frame.header.data(), sizeof length}));
  std::memcpy(frame.header.data() + sizeof length, &length_crc, sizeof length_crc);
  const std::uint32_t data_crc = mask_crc(crc32c(data));
  std::memcpy(frame.footer.data(), &data_crc, sizeof data_crc);
  return frame;
}

}  // namespace chexbench::formats
