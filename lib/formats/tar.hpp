// Reads POSIX tar files member by member (ustar, GNU's long names and large sizes, pax headers), and writes headers.
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
// A longer member counts as damage: its size is more likely wrong than real.
inline constexpr std::uint64_t kMaxTarMemberBytes = std::uint64_t{1} << 30;

// One member of a tar file, without its contents.
struct TarMember {
  std::string name;
  bool is_file = false;                    // false for a folder, a link or a device
  std::uint64_t size = 0;                  // of the contents, in bytes
  std::uint64_t offset = 0;                // of the first header block in the stream
  std::vector<storage::SharedBytes> head;  // the header blocks, as they were taken from the stream
};

// Reads the members of a tar file in their order. Keeps a reference to the stream. Not thread-safe.
class TarReader {
 public:
  // `base` is the offset of the stream's first byte in the file; only messages use it.
  explicit TarReader(storage::ByteStream& stream, std::uint64_t base = 0) : stream_(stream), base_(base) {}

  // Returns the next member, or std::nullopt at the end or once the stream was stopped. The contents of the member
  // before it must have been taken.
  // @throws DataError naming file, offset and reason if a header is damaged or truncated, a member is absurdly large,
  // data follow the end, or the stream cannot be read. Nothing can be read after it.
  std::optional<TarMember> next();
  // Returns the contents of the member that next() returned last, with the padding that fills them up to whole blocks,
  // or std::nullopt if the stream was stopped.
  // @throws DataError if they are truncated or cannot be read
  std::optional<storage::SharedBytes> contents(const TarMember& member);
  bool stopped() const { return stopped_; }  // whether the stream was stopped before its end

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

// Returns the header blocks that a writer puts before the contents of a file. Equal input gives equal bytes, because
// the header names no owner and no time. A name longer than 100 bytes gets a pax header.
std::string tar_header(std::string_view name, std::uint64_t size);
// Returns how many bytes of zeros fill `size` bytes up to whole blocks.
std::size_t tar_padding(std::uint64_t size);
inline constexpr std::size_t kTarEndBytes = 2 * kTarBlockBytes;  // zeros after the last member

}  // namespace chexbench::formats
