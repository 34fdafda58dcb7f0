// TFRecord shards: the reader's records, framed again, must equal the bytes that were read.
#include <algorithm>
#include <cstring>

#include "formats/crc32c.hpp"
#include "formats/tfrecord.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"
#include "fuzz/png_repair.hpp"

namespace chexbench::fuzz {
namespace {

using formats::kRecordFooterBytes;
using formats::kRecordHeaderBytes;

// The frame of a record must equal the bytes around it in the file.
void check_frame(Bytes shard, const formats::ShardRecord& record) {
  const formats::TfRecordFrame frame = formats::frame_record(record.data);
  const std::uint64_t bytes = kRecordHeaderBytes + record.data.size() + kRecordFooterBytes;
  require(record.offset + bytes <= shard.size(), "a record reaches beyond its shard");
  const Bytes whole = shard.subspan(record.offset, bytes);
  require(std::ranges::equal(whole.first(kRecordHeaderBytes), frame.header), "a record's length was not checked");
  require(std::ranges::equal(whole.last(kRecordFooterBytes), frame.footer), "a record's data were not checked");
  require(std::ranges::equal(whole.subspan(kRecordHeaderBytes, record.data.size()), record.data),
          "a record has other data than its shard");
  require(record.stored_bytes == bytes, "a record counts other bytes than it has");
}

bool is_compressed(Bytes shard) {
  return formats::is_compressed_tfrecord(shard.first(std::min(shard.size(), kRecordHeaderBytes)));
}

// Reads to the end, or to the first damage after which nothing can be found. Returns the number of records.
std::size_t read_all(Bytes shard, bool copies) {
  const bool has_frames = !is_compressed(shard);
  constexpr std::size_t kMostExpansion = 1032;  // of deflate
  const std::size_t most_bytes = shard.size() * (has_frames ? 1 : kMostExpansion);
  formats::TfRecordReader reader(memory_stream(shard, copies));
  std::size_t records = 0, damaged = 0;
  std::uint64_t next_offset = 0;
  while (true) {
    const auto read = accepted({ExitCode::data}, [&] { return reader.next(); });
    damaged += read ? 0 : 1;
    require(damaged <= most_bytes / kRecordHeaderBytes + 2, "a reader does not end");
    if (!read) continue;
    if (!*read) return records;
    ++records;
    const formats::ShardRecord& record = **read;
    require(record.offset >= next_offset, "records overlap");
    next_offset = record.offset + record.data.size() + kRecordHeaderBytes + kRecordFooterBytes;
    if (has_frames) check_frame(shard, record);
  }
}

// Walks the records as far as their lengths are sane, and sets both checksums of each.
void repair_records(Buffer& bytes) {
  for (std::size_t at = 0; at + kRecordHeaderBytes <= bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    const std::uint64_t most = bytes.size() - at - kRecordHeaderBytes;
    if (length + kRecordFooterBytes > most || length > most) return;
    const formats::TfRecordFrame frame = formats::frame_record(Bytes(bytes).subspan(at + kRecordHeaderBytes, length));
    std::ranges::copy(frame.header, bytes.data() + at);
    at += kRecordHeaderBytes + length;
    std::ranges::copy(frame.footer, bytes.data() + at);
    at += kRecordFooterBytes;
  }
}

// Scrambles the shard or, if it is compressed, half of the time its contents; then repairs the records.
void mutate_tfrecord(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  if (is_compressed(bytes) && seed % 2 == 0) {
    Buffer plain = inflated(bytes, most);
    scramble(plain, most);
    repair_records(plain);
    bytes = deflated(plain);
    return;
  }
  scramble(bytes, most);
  if (seed % 8 != 1 && !is_compressed(bytes)) repair_records(bytes);
}

}  // namespace

FUZZ_TARGET(tfrecord, "formats/tfrecord.cpp formats/inflated_stream.cpp", mutate_tfrecord) {
  require(formats::crc32c(bytes) == formats::crc32c_plain(bytes), "crc32c and its plain twin differ");
  const std::size_t records = read_all(bytes, false);
  require(records == read_all(bytes, true), "a mapped shard has other records than a streamed one");
}

}  // namespace chexbench::fuzz
