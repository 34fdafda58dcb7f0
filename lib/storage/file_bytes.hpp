// Whole files in memory: mapped for shards, read into a reusable buffer for images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace chexbench::storage {

// A file mapped read-only. Shared: views of its bytes are valid as long as somebody holds it. Thread-safe.
// The bytes of a file that another program cuts short in place vanish from the mapping (SIGBUS on access, which no
// handler can mend). chexbench itself replaces files by rename and never in place; TfRecordReader looks at size_now()
// before each record, so that a shard cut short earlier is a DataError and only a cut during the read itself is fatal.
class MappedFile {
 public:
  // @throws DataError naming the file and the reason
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Bytes that the file has at this moment (0 where that cannot be told).
  std::uint64_t size_now() const;

 private:
  MappedFile() = default;
  std::string path_;
  int descriptor_ = -1;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Memory that grows and is never zeroed or given back between uses: fresh pages for every image would cost more than
// half of its decode. Not thread-safe: one a thread.
class ByteBuffer {
 public:
  // At least `bytes` bytes, contents undefined. Invalidates earlier views. @throws std::bad_alloc
  std::byte* reserve(std::size_t bytes);
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads a whole file; the view is valid until the buffer's next use. @throws DataError naming the file and the reason
std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer);

}  // namespace chexbench::storage
