// Inflate: ISA-L against zlib, with the stream in one piece and in several.
#include <algorithm>

#include "fuzz/fuzz.hpp"
#include "fuzz/png_repair.hpp"
#include "image/png/png_inflate.hpp"

namespace chexbench::fuzz {
namespace {

constexpr std::size_t kInflateChoices = 3;  // bytes of choices before the stream

std::optional<std::vector<std::uint8_t>> inflate_by(image::Inflater& inflater, const std::vector<Bytes>& pieces,
                                                    std::size_t size) {
  std::vector<std::uint8_t> out(size);
  if (inflater.inflate(pieces, out)) return std::nullopt;
  return out;
}

// Scrambles the stream or its contents; for the latter, the length in the choices is updated.
void mutate_stream(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  if (seed % 2 == 0 || bytes.size() < kInflateChoices) return scramble(bytes, most);
  Buffer plain = inflated(Bytes(bytes).subspan(kInflateChoices), 65535);
  scramble(plain, 65535);
  const Buffer stream = deflated(plain);
  bytes.resize(kInflateChoices);
  bytes[0] = static_cast<std::byte>(plain.size() & 0xff);
  bytes[1] = static_cast<std::byte>(plain.size() >> 8);
  bytes.insert(bytes.end(), stream.begin(), stream.end());
}

}  // namespace

FUZZ_TARGET(inflate, "image/png/png_inflate_isal.cpp image/png/png_inflate_zlib.cpp", mutate_stream) {
  static const auto fast = image::make_inflater();
  static const auto plain = image::make_zlib_inflater();
  Input input(bytes);
  const std::size_t low = input.byte(), high = input.byte();
  const std::size_t size = std::max<std::size_t>(1, low | high << 8);  // no image has less
  const unsigned cut = input.byte();
  const Bytes stream = input.rest();
  const std::vector<Bytes> whole = {stream};
  const std::size_t first = stream.empty() ? 0 : cut % (stream.size() + 1);
  const std::vector<Bytes> pieces = {stream.first(first), {}, stream.subspan(first)};
  const auto by_zlib = inflate_by(*plain, whole, size);
  require(inflate_by(*fast, whole, size) == by_zlib, "ISA-L and zlib differ");
  require(inflate_by(*fast, pieces, size) == by_zlib, "pieces change what ISA-L inflates");
  require(inflate_by(*plain, pieces, size) == by_zlib, "pieces change what zlib inflates");
}

}  // namespace chexbench::fuzz
