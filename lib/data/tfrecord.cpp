#include "data/tfrecord.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "data/crc32c.hpp"
#include "data/store/local_store.hpp"

namespace chexbench::data {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord fields are read and written as they lie in memory");

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

DataError bad_record(const std::string& path, std::uint64_t offset, const std::string& reason) {
  return DataError(fmt::format("{}: record at offset {}: {}", path, offset, reason));
}

}  // namespace

TfRecordReader::TfRecordReader(std::shared_ptr<const MappedFile> file)
    : TfRecordReader(stream_mapped(std::move(file))) {}

void TfRecordReader::give_up(std::uint64_t at, const std::string& reason) const {
  throw bad_record(stream_->path(), at, reason + "; the rest of the file cannot be read");
}

std::uint64_t TfRecordReader::checked_length(std::span<const std::byte> header, std::uint64_t at) const {
  const auto length = load<std::uint64_t>(header.data());
  if (mask_crc(crc32c(header.first(sizeof length))) != load<std::uint32_t>(header.data() + sizeof length)) {
    give_up(at, "the CRC of its length is wrong");
  }
  if (length > kMaxRecordBytes) {
    give_up(at, fmt::format("absurd length of {} bytes (at most {} are accepted)", length, kMaxRecordBytes));
  }
  const std::uint64_t left = stream_->size() - at;
  if (left - kRecordHeaderBytes < length + kRecordFooterBytes) {
    give_up(at, fmt::format("truncated: it needs {} bytes, {} are left",
                            kRecordHeaderBytes + length + kRecordFooterBytes, left));
  }
  return length;
}

std::optional<TfRecord> TfRecordReader::next() {
  const std::uint64_t at = offset_;
  const std::uint64_t size = stream_->size();
  if (at >= size) return std::nullopt;
  offset_ = size;  // whatever fails before the record's end is known leaves nothing behind it
  if (size - at < kRecordHeaderBytes) {
    give_up(at, fmt::format("truncated: {} bytes are left, a header has {}", size - at, kRecordHeaderBytes));
  }
  const SharedBytes header = stream_->take(kRecordHeaderBytes);
  if (header.bytes.size() < kRecordHeaderBytes) return std::nullopt;
  const std::uint64_t length = checked_length(header.bytes, at);
  SharedBytes body = stream_->take(length + kRecordFooterBytes);
  if (body.bytes.size() < length + kRecordFooterBytes) return std::nullopt;
  offset_ = at + kRecordHeaderBytes + length + kRecordFooterBytes;
  const std::span<const std::byte> data = body.bytes.first(length);
  if (mask_crc(crc32c(data)) != load<std::uint32_t>(data.data() + length)) {
    throw bad_record(stream_->path(), at, "the CRC of its data is wrong");
  }
  return TfRecord{data, at, std::move(body.owner)};
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

}  // namespace chexbench::data
