#include <zlib.h>

#include <algorithm>
#include <new>

#include "image/png/png_inflate.hpp"

namespace chexbench::image {
namespace {

class ZlibInflater final : public Inflater {
 public:
  ZlibInflater() {
    if (::inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { ::inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  std::optional<std::string> inflate(std::span<const std::span<const std::byte>> pieces,
                                     std::span<std::uint8_t> out) override {
    // One piece at a time, so that only each must be short enough.
    for (const auto& piece : pieces) {
      if (auto refusal = refuse_length(piece.size(), out.size())) return refusal;
    }
    const auto first = std::ranges::find_if(pieces, [](const auto& piece) { return !piece.empty(); });
    if (first != pieces.end()) {
      if (auto refusal = refuse_window(*first, out.size())) return refusal;
    }
    ::inflateReset(&stream_);
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    int status = Z_OK;
    for (const std::span<const std::byte> piece : pieces) {
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      if (!piece.empty()) status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK) break;
    }
    if (status == Z_STREAM_END && stream_.avail_out == 0) return std::nullopt;
    if (status == Z_STREAM_END) return "it ends before the last row";
    if (status == Z_DATA_ERROR) return stream_.msg != nullptr ? stream_.msg : "invalid data";
    return stream_.avail_out == 0 ? "it continues after the last row" : "its data ends too early";
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater() { return std::make_unique<ZlibInflater>(); }

}  // namespace chexbench::image
