#include "data/tfrecord.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/errors.hpp"
#include "data/crc32c.hpp"

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

void TfRecordReader::give_up(const std::string& reason) {
  const std::uint64_t at = offset_;
  offset_ = file_->bytes().size();
  throw bad_record(file_->path(), at, reason + "; the rest of the file cannot be read");
}

std::uint64_t TfRecordReader::checked_length() {
  const std::span<const std::byte> bytes = file_->bytes();
  const std::uint64_t left = bytes.size() - offset_;
  if (left < kRecordHeaderBytes) {
    give_up(fmt::format("truncated: {} bytes are left, a header has {}", left, kRecordHeaderBytes));
  }
  const std::byte* const header = bytes.data() + offset_;
  const auto length = load<std::uint64_t>(header);
  if (mask_crc(crc32c({header, sizeof length})) != load<std::uint32_t>(header + sizeof length)) {
    give_up("the CRC of its length is wrong");
  }
  if (length > kMaxRecordBytes) {
    give_up(fmt::format("absurd length of {} bytes (at most {} are accepted)", length, kMaxRecordBytes));
  }
  if (left - kRecordHeaderBytes < length + kRecordFooterBytes) {
    give_up(fmt::format("truncated: it needs {} bytes, {} are left", kRecordHeaderBytes + length + kRecordFooterBytes,
                        left));
  }
  return length;
}

std::optional<TfRecord> TfRecordReader::next() {
  const std::span<const std::byte> bytes = file_->bytes();
  if (offset_ >= bytes.size()) return std::nullopt;
  if (file_->size_now() < bytes.size()) give_up("the file became shorter while it was being read");
  const std::uint64_t length = checked_length();
  const TfRecord record{bytes.subspan(offset_ + kRecordHeaderBytes, length), offset_};
  offset_ += kRecordHeaderBytes + length + kRecordFooterBytes;
  if (mask_crc(crc32c(record.data)) != load<std::uint32_t>(record.data.data() + length)) {
    throw bad_record(file_->path(), record.offset, "the CRC of its data is wrong");
  }
  return record;
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
