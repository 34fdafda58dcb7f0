// Reads any part of a file of this machine: as a view where the file is mapped or in memory, else as a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::storage {

// A file from which any range can be read. Thread-safe.
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
