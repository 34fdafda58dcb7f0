#include "storage/file_ranges.hpp"

#include <sys/mman.h>

#include <utility>

namespace chexbench::storage {
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
