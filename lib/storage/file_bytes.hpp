// Reads files of this machine: shards are mapped or copied in ranges, images are read whole into a reusable buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/watched_mapping.hpp"
#include "spec/trial_spec.hpp"
#include "storage/block_pool.hpp"

namespace chexbench::storage {

// A file mapped read-only. Views of its bytes are valid as long as one owner holds the MappedFile. Thread-safe. If
// another program truncates the file in place, the bytes after its new end vanish from the mapping, and an access to
// them raises SIGBUS, on which WatchedMapping ends the process with a message. chexbench itself replaces files by
// rename, never in place. Streams call check_length() before each record, so that an earlier truncation is a DataError,
// and only a truncation during the read itself ends the process.
class MappedFile {
 public:
  // Maps the file at `path`; an empty file has no bytes.
  // @throws DataError if the file is absent, not a regular file, or cannot be opened or mapped
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // @throws DataError if the file is shorter at this moment than when it was mapped, or its length cannot be read
  void check_length() const;

 private:
  MappedFile() = default;
  std::string path_;
  int descriptor_ = -1;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<WatchedMapping> watched_;
};

// A file from which any range can be copied into memory. Thread-safe.
class CopiedFile {
 public:
  // @throws DataError if the file is absent, not a regular file, or cannot be opened
  explicit CopiedFile(const std::string& path);
  ~CopiedFile();
  CopiedFile(const CopiedFile&) = delete;
  CopiedFile& operator=(const CopiedFile&) = delete;

  const std::string& path() const { return path_; }
  // Returns the file's size in bytes when it was opened.
  std::uint64_t size() const { return size_; }
  // Fills `bytes` with those of the file from `offset` on.
  // @throws DataError naming the file if it is too short or cannot be read
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  const std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Memory that grows on demand, and is neither cleared nor released between uses: fresh pages for every image would cost
// more than half as much time as decoding it. Not thread-safe: use one per thread.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  // A buffer that borrows its memory from `blocks`, for callers that need a new one for each file.
  explicit ByteBuffer(std::shared_ptr<BlockPool> blocks) : blocks_(std::move(blocks)) {}
  // Returns at least `bytes` bytes. If the buffer must grow, its contents are lost and earlier views become invalid;
  // otherwise both stay.
  // @throws std::bad_alloc if the system has no memory left
  std::byte* reserve(std::size_t bytes);
  // Returns an empty buffer that will take its memory from the same source as this one.
  ByteBuffer empty_one() const { return ByteBuffer(blocks_); }
  std::size_t capacity() const { return capacity_; }

 private:
  std::shared_ptr<BlockPool> blocks_;  // null: memory comes from the system
  std::shared_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

// Gives the kernel advice (MADV_*) about the pages that hold `bytes`, which must be mapped. Returns whether the kernel
// accepted it; failure does no harm.
bool advise_pages(std::span<const std::byte> bytes, int advice);

// Waits until all pages of a mapped file's bytes are in memory.
void bring_into_memory(std::span<const std::byte> bytes);

// Returns the same bytes as text, without a copy.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads a whole file; the view is valid until the next use of the buffer.
// @throws DataError if the file is absent, not a regular file, larger than kMostObjectBytes, cannot be read, or ends
// before its size
std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer);

// The bytes that are reserved before any has arrived, if their number is only a server's claim. Above that, memory
// grows with what arrives.
inline constexpr std::uint64_t kMostTrustedBytes = std::uint64_t{64} << 20;

// Returns space for `bytes` bytes after the first `kept` bytes of the buffer, which are preserved. If the buffer must
// grow, it grows to twice that, but not beyond `most`, which is at least `kept` + `bytes`.
// @throws std::bad_alloc if the system has no memory left
std::byte* room_behind(ByteBuffer& buffer, std::size_t kept, std::size_t bytes, std::uint64_t most);

// A file from which any range can be read: as a view where it is mapped or in memory, else as a copy. Thread-safe.
class FileRanges {
 public:
  virtual ~FileRanges() = default;
  virtual const std::string& path() const = 0;
  // Returns the file's size in bytes when it was opened.
  virtual std::uint64_t size() const = 0;
  // Returns `bytes` bytes from `offset` on, which must be within size(). The view is valid as long as this object, and
  // until the next use of `buffer`, into which the bytes are copied if they cannot be viewed in place.
  // @throws DataError naming the file if it became shorter or cannot be read
  virtual std::span<const std::byte> range(std::uint64_t offset, std::size_t bytes, ByteBuffer& buffer) const = 0;
  // Removes the file's pages from this process's memory. The kernel keeps pages in its page cache while a process has
  // them mapped; after this call it can drop them.
  virtual void release_pages() const {}
};

// Opens the file and maps it or copies from it. @throws DataError as MappedFile::open()
std::shared_ptr<const FileRanges> open_ranges(const std::string& path, spec::FileReading reading);

// Serves bytes in memory as a file; they must outlive it. Messages call it `path`.
std::shared_ptr<const FileRanges> ranges_of(std::span<const std::byte> bytes, const std::string& path);

}  // namespace chexbench::storage
