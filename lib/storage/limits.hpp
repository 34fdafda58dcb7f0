// Limits on data from a server, which may be broken or hostile, and on files that are read whole. They are far above
// those of real data sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::storage {

// Bytes of a file that is read whole (an image or a table), and of one record of a shard. Equals 64 million pixels of
// 16 bits in four colors.
inline constexpr std::uint64_t kMostObjectBytes = std::uint64_t{512} << 20;
// The same, if the server does not announce the size.
inline constexpr std::uint64_t kMostUnannouncedBytes = std::uint64_t{64} << 20;
// Bytes of an index page (600,000 files as nginx writes them), and of a page of an S3 listing (1000 keys of at most
// 1024 bytes, each of which may be written as up to six).
inline constexpr std::uint64_t kMostIndexPageBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostS3PageBytes = std::uint64_t{16} << 20;
// Entries of one folder.
inline constexpr std::size_t kMostEntries = 2'000'000;
// Bytes of the name of an entry: the limit of a whole S3 key.
inline constexpr std::size_t kMostNameBytes = 1024;

}  // namespace chexbench::storage
