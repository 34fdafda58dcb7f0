// POSIX tar files, member by member: ustar, GNU's long names and large sizes, pax headers.
// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block"; GNU tar manual, "Basic Tar Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::formats {

inline constexpr std::size_t kTarBlockBytes = 512;
// A longer member is refused as damage, whatever its header says.
inline constexpr std::uint64_t kMaxTarMemberBytes = std::uint64_t{1} << 30;

struct TarMember {
  std::string name;
  bool is_file = false;                    // not a folder, a link or a device
  std::uint64_t size = 0;                  // of its contents
  std::uint64_t offset = 0;                // of its first header block
  std::vector<storage::SharedBytes> head;  // its header blocks, as they were taken from the stream
};

// The members of a tar file in their order. Not thread-safe.
class TarReader {
 public:
  // `base`: offset of the stream's first byte in the file, for messages.
  explicit TarReader(storage::ByteStream& stream, std::uint64_t base = 0) : stream_(stream), base_(base) {}

  // The next member, or nothing at the end, or once the stream was stopped.
  // @throws DataError naming file, offset and reason: wrong checksum, truncated member. Nothing can be read after it.
  std::optional<TarMember> next();
  // Its contents and their padding to whole blocks; must be taken before the next member. Nothing once stopped.
  // @throws DataError where they are truncated
  std::optional<storage::SharedBytes> contents(const TarMember& member);
  bool stopped() const { return stopped_; }

 private:
  struct Extra;
  std::optional<storage::SharedBytes> take(std::uint64_t bytes, std::uint64_t member);
  void check_end(std::uint64_t end);
  bool read_extra(TarMember& member, char type, std::uint64_t size, Extra& extra);
  [[noreturn]] void fail(std::uint64_t member, const std::string& reason) const;

  storage::ByteStream& stream_;
  const std::uint64_t base_;
  std::uint64_t taken_ = 0;
  bool stopped_ = false;
};

// What surrounds the contents of a file in a tar, for writers. Equal input gives equal bytes: no owner, no time.
// A name longer than 100 bytes gets a pax header.
std::string tar_header(std::string_view name, std::uint64_t size);
// Bytes of zeros that fill `size` up to whole blocks.
std::size_t tar_padding(std::uint64_t size);
inline constexpr std::size_t kTarEndBytes = 2 * kTarBlockBytes;  // zeros behind the last member

}  // namespace chexbench::formats
