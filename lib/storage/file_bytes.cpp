#include "storage/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

// An open file, which the destructor closes.
class Descriptor {
 public:
  // O_NONBLOCK, because opening a FIFO that nobody writes to would otherwise block the run. size_of() then refuses it.
  explicit Descriptor(const std::string& path) : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (value_ < 0) throw DataError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

std::size_t size_of(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw DataError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw DataError(fmt::format("cannot read {}: not a regular file", path));
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  Descriptor file(path);
  const std::size_t size = size_of(file, path);
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  if (size > 0) {
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw DataError(fmt::format("cannot map {}: {}", path, std::strerror(errno)));
    ::madvise(memory, size, MADV_SEQUENTIAL);
    mapped->data_ = static_cast<const std::byte*>(memory);
    mapped->size_ = size;
  }
  mapped->path_ = path;
  mapped->descriptor_ = file.release();
  if (size > 0) mapped->watched_.emplace(mapped->bytes(), mapped->descriptor_, path);
  return mapped;
}

MappedFile::~MappedFile() {
  watched_.reset();  // before these addresses can be reused for another file
  if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MappedFile::check_length() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= size_) return;
  throw DataError(fmt::format("cannot read {}: the file became shorter while it was being read", path_));
}

bool advise_pages(std::span<const std::byte> bytes, int advice) {
  constexpr std::uintptr_t kPageBytes = 4096;
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(bytes.data()) % kPageBytes;
  auto* const page = const_cast<std::byte*>(bytes.data() - into_page);  // madvise() takes a pointer to non-const
  return ::madvise(page, into_page + bytes.size(), advice) == 0;
}

void bring_into_memory(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  constexpr int kPopulateRead = 22;                // MADV_POPULATE_READ (Linux 5.14), missing from some headers
  if (advise_pages(bytes, kPopulateRead)) return;  // one call instead of a fault for every few pages
  constexpr std::size_t kPageBytes = 4096;         // no machine has smaller pages
  const volatile std::byte* const byte = bytes.data();
  for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) static_cast<void>(byte[at]);
  static_cast<void>(byte[bytes.size() - 1]);
}

CopiedFile::CopiedFile(const std::string& path) : path_(path) {
  Descriptor file(path);
  size_ = size_of(file, path);
  descriptor_ = file.release();
}

CopiedFile::~CopiedFile() { ::close(descriptor_); }

void CopiedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    if (got == 0) {
      throw DataError(
          fmt::format("cannot read {}: the file became shorter while it was being read: it ended at byte {} "
                      "of {}",
                      path_, offset, size_));
    }
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::byte* ByteBuffer::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    // Image sizes vary: leave room for a larger one, but not in a block, which comes from a pool for one file.
    const std::size_t wanted = blocks_ ? bytes : bytes + bytes / 4;
    memory_.reset();
    capacity_ = 0;
    memory_ = blocks_ ? blocks_->take(wanted) : std::make_shared_for_overwrite<std::byte[]>(wanted);
    capacity_ = wanted;
  }
  return memory_.get();
}

std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer) {
  const Descriptor file(path);
  const std::size_t size = size_of(file, path);
  if (size > kMostObjectBytes)
    throw DataError(
        fmt::format("{}: it has {:.0f} MB, and an image or a table may have at most {:.0f} MB: split it, or take it "
                    "out of the data set",
                    path, 1e-6 * static_cast<double>(size), 1e-6 * static_cast<double>(kMostObjectBytes)));
  std::byte* const data = buffer.reserve(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.get(), data + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (got == 0) throw DataError(fmt::format("cannot read {}: it ended at byte {} of {}", path, done, size));
    done += static_cast<std::size_t>(got);
  }
  return {data, size};
}

std::byte* room_behind(ByteBuffer& buffer, std::size_t kept, std::size_t bytes, std::uint64_t most) {
  if (kept + bytes > buffer.capacity()) {
    ByteBuffer larger = buffer.empty_one();
    std::byte* const memory = larger.reserve(std::min<std::uint64_t>(2 * (kept + bytes), most));
    if (kept > 0) std::memcpy(memory, buffer.reserve(0), kept);
    std::swap(buffer, larger);
  }
  return buffer.reserve(0) + kept;
}

namespace {

class MappedRanges final : public FileRanges {
 public:
  explicit MappedRanges(const std::string& path) : file_(MappedFile::open(path)) {
    advise_pages(file_->bytes(), MADV_NORMAL);  // because ranges are read in any order
  }
  const std::string& path() const override { return file_->path(); }
  std::uint64_t size() const override { return file_->bytes().size(); }
  std::span<const std::byte> range(std::uint64_t offset, std::size_t bytes, ByteBuffer&) const override {
    file_->check_length();
    const std::span<const std::byte> view = file_->bytes().subspan(offset, bytes);
    advise_pages(view, MADV_WILLNEED);  // read all pages at once instead of one by one
    return view;
  }
  void release_pages() const override { advise_pages(file_->bytes(), MADV_DONTNEED); }

 private:
  const std::shared_ptr<const MappedFile> file_;
};

class CopiedRanges final : public FileRanges {
 public:
  explicit CopiedRanges(const std::string& path) : file_(path) {}
  const std::string& path() const override { return file_.path(); }
  std::uint64_t size() const override { return file_.size(); }
  std::span<const std::byte> range(std::uint64_t offset, std::size_t bytes, ByteBuffer& buffer) const override {
    const std::span<std::byte> copy(buffer.reserve(bytes), bytes);
    file_.read(offset, copy);
    return copy;
  }

 private:
  const CopiedFile file_;
};

class MemoryRanges final : public FileRanges {
 public:
  MemoryRanges(std::span<const std::byte> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  std::span<const std::byte> range(std::uint64_t offset, std::size_t bytes, ByteBuffer&) const override {
    return bytes_.subspan(offset, bytes);
  }

 private:
  const std::span<const std::byte> bytes_;
  const std::string path_;
};

}  // namespace

std::shared_ptr<const FileRanges> open_ranges(const std::string& path, spec::FileReading reading) {
  if (reading == spec::FileReading::copy) return std::make_shared<CopiedRanges>(path);
  return std::make_shared<MappedRanges>(path);
}

std::shared_ptr<const FileRanges> ranges_of(std::span<const std::byte> bytes, const std::string& path) {
  return std::make_shared<MemoryRanges>(bytes, path);
}

}  // namespace chexbench::storage
