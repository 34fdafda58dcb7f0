// GZIP and ZLIB files, inflated on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/store.hpp"

namespace chexbench::formats {

// What a compressed file holds. Its size() is kUnknownBytes until its end was met.
class InflatedStream : public storage::ByteStream {
 public:
  virtual std::uint64_t packed_bytes_read() const = 0;  // of the file
};

// Whether a file that begins with these bytes is a GZIP or a ZLIB stream, as far as its header tells.
bool looks_compressed(std::span<const std::byte> head);

// Inflates `packed`, of which `head`, its first bytes, was taken already; the members of a GZIP file one after the
// other. What is taken is a copy. A damaged or truncated stream is a DataError that names the file and the byte of it.
std::unique_ptr<InflatedStream> inflate_stream(std::unique_ptr<storage::ByteStream> packed, storage::SharedBytes head);

}  // namespace chexbench::formats
