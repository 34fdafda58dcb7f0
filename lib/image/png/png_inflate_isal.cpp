#include <isa-l.h>

#include <algorithm>
#include <cstring>

#include "image/png/png_inflate.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

const char* reason_of(int status) {
  switch (status) {
    case ISAL_END_INPUT:
      return "its data ends too early";
    case ISAL_OUT_OVERFLOW:
      return "it continues after the last row";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance too far back";
    case ISAL_UNSUPPORTED_METHOD:
    case ISAL_INVALID_WRAPPER:
      return "incorrect header check";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect data check";
    default:
      return "invalid data";
  }
}

class IsalInflater final : public Inflater {
 public:
  std::optional<std::string> inflate(std::span<const std::span<const std::byte>> pieces,
                                     std::span<std::uint8_t> out) override {
    std::size_t compressed_bytes = 0;
    for (const auto& piece : pieces) compressed_bytes += piece.size();
    if (auto refusal = refuse_length(compressed_bytes, out.size())) return refusal;
    const std::span<const std::byte> stream = pieces.size() == 1 ? pieces.front() : join(pieces, compressed_bytes);
    if (auto refusal = refuse_window(stream, out.size())) return refusal;
    ::isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_ZLIB;
    state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(stream.data()));
    state_->avail_in = static_cast<std::uint32_t>(stream.size());
    state_->next_out = out.data();
    state_->avail_out = static_cast<std::uint32_t>(out.size());
    const int status = ::isal_inflate_stateless(state_.get());
    if (status != ISAL_DECOMP_OK) return reason_of(status);
    // OK means only that the stream is complete, not that it filled the image.
    if (state_->avail_out != 0) return "it ends before the last row";
    return std::nullopt;
  }

 private:
  // Joins the pieces, because the stateless call needs the stream in one. Its window is `out` itself, which saves a
  // copy.
  std::span<const std::byte> join(std::span<const std::span<const std::byte>> pieces, std::size_t total) {
    std::byte* const joined = joined_.reserve(total);
    std::byte* end = joined;
    for (const auto& piece : pieces) end = std::copy(piece.begin(), piece.end(), end);
    return {joined, total};
  }

  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();  // 87 KB
  storage::ByteBuffer joined_;
};

}  // namespace

std::unique_ptr<Inflater> make_inflater() { return std::make_unique<IsalInflater>(); }

std::uint32_t png_crc32(std::span<const std::byte> bytes) {
  return ::crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace chexbench::image
