// Reads GZIP and ZLIB files as a stream and inflates them on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/store.hpp"

namespace chexbench::formats {

// The inflated contents of a compressed file. size() is kUnknownBytes until the end has been reached. take() returns a
// copy. Not thread-safe.
// take() @throws DataError naming the file and the byte in it if the stream is damaged or truncated
class InflatedStream : public storage::ByteStream {
 public:
  // Returns how many bytes of the compressed file have been inflated so far.
  virtual std::uint64_t packed_bytes_read() const = 0;
};

// Returns whether a file that begins with these bytes has a GZIP or a ZLIB header (RFC 1952, RFC 1950). Other data may
// begin in the same way by chance.
bool looks_compressed(std::span<const std::byte> head);

// Returns a stream that inflates `packed`. `head` is the first bytes of the file, which were already taken from
// `packed`. The members of a GZIP file are inflated one after the other.
// @throws std::bad_alloc if zlib gets no memory
std::unique_ptr<InflatedStream> inflate_stream(std::unique_ptr<storage::ByteStream> packed, storage::SharedBytes head);

}  // namespace chexbench::formats
