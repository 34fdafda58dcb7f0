#include "formats/inflated_stream.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::formats {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;  // how much of the file is read at once
constexpr std::uint64_t kMostExpansion = 1032;             // deflate stores at most 258 bytes in two bits
constexpr std::uint64_t kPendingBytes = 1 << 16;           // more than zlib can hold back of its input
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // because zlib counts bytes in 32 bits
constexpr int kGzipOrZlib = 32 + MAX_WBITS;                // zlib finds out the format from the stream's header

bool is_gzip(std::span<const std::byte> head) {
  return head.size() >= 2 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
}

// RFC 1950: method 8, a window of at most 32 KiB, no preset dictionary, and the two bytes together are a multiple
// of 31.
bool is_zlib(std::span<const std::byte> head) {
  if (head.size() < 2) return false;
  const auto method = std::to_integer<unsigned>(head[0]);
  const auto flags = std::to_integer<unsigned>(head[1]);
  return (method & 0x0f) == 8 && method >> 4 <= 7 && (flags & 0x20) == 0 && (method * 256 + flags) % 31 == 0;
}

class ZlibStream final : public InflatedStream {
 public:
  ZlibStream(std::unique_ptr<storage::ByteStream> packed, storage::SharedBytes head)
      : packed_(std::move(packed)), has_members_(is_gzip(head.bytes)) {
    if (::inflateInit2(&zlib_, kGzipOrZlib) != Z_OK) throw std::bad_alloc();
    feed(std::move(head));
  }
  ~ZlibStream() override { ::inflateEnd(&zlib_); }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  const std::string& path() const override { return packed_->path(); }
  std::uint64_t size() const override { return ended_ ? inflated_ : storage::kUnknownBytes; }
  std::uint64_t packed_bytes_read() const override { return read_ - zlib_.avail_in; }

  storage::SharedBytes take(std::size_t bytes) override {
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, most_left()));
    std::shared_ptr<std::byte[]> memory = std::make_shared_for_overwrite<std::byte[]>(room);
    std::size_t done = 0;
    while (done < room && !ended_) {
      if (zlib_.avail_in == 0 && !read_piece()) {
        if (packed_left() > 0) break;  // the stream was stopped
        fail("it ends early: the stream is truncated");
      }
      done += inflate_into({memory.get() + done, std::min(room - done, kMostAtOnce)});
    }
    inflated_ += done;
    return {{memory.get(), done}, memory};
  }

 private:
  std::uint64_t packed_left() const { return packed_->size() - read_; }
  // An upper bound of the bytes that are left. It limits the memory that a wrong record length can ask for.
  std::uint64_t most_left() const { return (packed_left() + zlib_.avail_in) * kMostExpansion + kPendingBytes; }

  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(fmt::format("{}: byte {} of the compressed file: {}; the rest cannot be read", path(),
                                packed_bytes_read(), reason));
  }

  void feed(storage::SharedBytes piece) {
    piece_ = std::move(piece);
    read_ += piece_.bytes.size();
    zlib_.next_in = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece_.bytes.data()));
    zlib_.avail_in = static_cast<unsigned>(piece_.bytes.size());
  }
  // Returns false at the file's end, and if the stream was stopped.
  bool read_piece() {
    const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, packed_left());
    if (bytes == 0) return false;
    storage::SharedBytes piece = packed_->take(static_cast<std::size_t>(bytes));
    if (piece.bytes.size() < bytes) return false;
    feed(std::move(piece));
    return true;
  }

  std::size_t inflate_into(std::span<std::byte> out) {
    zlib_.next_out = reinterpret_cast<unsigned char*>(out.data());
    zlib_.avail_out = static_cast<unsigned>(out.size());
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      end_member();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail(zlib_.msg != nullptr ? zlib_.msg : "it cannot be inflated");
    }
    return out.size() - zlib_.avail_out;
  }

  void end_member() {
    ended_ = zlib_.avail_in == 0 && packed_left() == 0;
    if (ended_) return;
    if (!has_members_) fail("bytes follow the end of the ZLIB stream");
    ::inflateReset(&zlib_);
  }

  const std::unique_ptr<storage::ByteStream> packed_;
  const bool has_members_;
  z_stream zlib_{};
  storage::SharedBytes piece_;  // the bytes that zlib is reading
  std::uint64_t read_ = 0;      // bytes of the file that were given to zlib
  std::uint64_t inflated_ = 0;  // bytes that take() has returned
  bool ended_ = false;
};

}  // namespace

bool looks_compressed(std::span<const std::byte> head) { return is_gzip(head) || is_zlib(head); }

std::unique_ptr<InflatedStream> inflate_stream(std::unique_ptr<storage::ByteStream> packed, storage::SharedBytes head) {
  return std::make_unique<ZlibStream>(std::move(packed), std::move(head));
}

}  // namespace chexbench::formats
