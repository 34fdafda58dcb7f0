// Mutations of PNG files that keep their checksums right.
#pragma once

#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {

// Scrambles the file or, half of the time, the rows that are compressed in it; then repairs lengths and CRCs of chunks.
// One mutation in eight stays damaged.
void mutate_png(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble);

// Return the bytes as a zlib stream, and the contents of a zlib stream: at most `most` bytes, as far as it is intact.
Buffer deflated(Bytes bytes);
Buffer inflated(Bytes stream, std::size_t most);

}  // namespace chexbench::fuzz
