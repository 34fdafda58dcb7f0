#include "storage/store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "storage/block_pool.hpp"

namespace chexbench::storage {
namespace {

class MappedStream final : public ByteStream {
 public:
  explicit MappedStream(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}
  const std::string& path() const override { return file_->path(); }
  std::uint64_t size() const override { return file_->bytes().size(); }
  SharedBytes take(std::size_t bytes) override {
    file_->check_length();
    const auto view = file_->bytes().subspan(taken_, bytes);
    taken_ += bytes;
    return {view, file_};
  }

 private:
  const std::shared_ptr<const MappedFile> file_;
  std::size_t taken_ = 0;
};

class CopiedStream final : public ByteStream {
 public:
  CopiedStream(const std::string& path, std::shared_ptr<BlockPool> blocks) : file_(path), blocks_(std::move(blocks)) {}
  const std::string& path() const override { return file_.path(); }
  std::uint64_t size() const override { return file_.size(); }
  SharedBytes take(std::size_t bytes) override {
    std::shared_ptr<std::byte[]> block = blocks_->take(bytes);
    const std::span<std::byte> copy(block.get(), bytes);
    file_.read(taken_, copy);
    taken_ += bytes;
    return {copy, std::move(block)};
  }

 private:
  const CopiedFile file_;
  const std::shared_ptr<BlockPool> blocks_;
  std::uint64_t taken_ = 0;
};

// Returns the kind of an entry of an open folder, by its name.
void look_up(int folder, StoreEntry& entry) {
  struct stat status {};
  const bool is_there = ::fstatat(folder, entry.name.c_str(), &status, 0) == 0;
  entry.kind = is_there ? StoreEntry::Kind::other : StoreEntry::Kind::broken;
  if (is_there && S_ISDIR(status.st_mode)) entry.kind = StoreEntry::Kind::folder;
  if (!is_there || !S_ISREG(status.st_mode)) return;
  entry.kind = StoreEntry::Kind::file;
  entry.bytes = static_cast<std::uint64_t>(status.st_size);
}

// Looks up all entries, on several cores if there are many: for a million files, it takes a third of the indexing time.
void look_up_all(int folder, std::span<StoreEntry> entries) {
  constexpr std::size_t kAtOnce = 4096;  // a few milliseconds of work, enough to pay for a thread
  parallel_for((entries.size() + kAtOnce - 1) / kAtOnce, 0, [&](std::size_t, std::size_t part) {
    const std::span<StoreEntry> rest = entries.subspan(part * kAtOnce);
    for (StoreEntry& entry : rest.first(std::min(kAtOnce, rest.size()))) look_up(folder, entry);
  });
}

class LocalStore final : public Store {
 public:
  explicit LocalStore(spec::FileReading reading) : reading_(reading) {}
  // Uses readdir, and fstatat relative to the folder: with 112,120 files, most of the time would otherwise go into
  // resolving each full path. Entries are in the order of readdir.
  std::vector<StoreEntry> list(const std::string& folder) const override {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), &::closedir);
    if (!directory && (errno == ENOENT || errno == ENOTDIR)) return {};
    if (!directory) throw DataError(fmt::format("cannot read folder {}: {}", folder, std::strerror(errno)));
    std::vector<StoreEntry> entries;
    while (const dirent* const entry = ::readdir(directory.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") entries.push_back({entry->d_name, StoreEntry::Kind::other, {}});
    }
    look_up_all(::dirfd(directory.get()), entries);
    return entries;
  }
  std::optional<std::uint64_t> size(const std::string& path) const override {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) throw DataError(fmt::format("cannot read {}: {}", path, error.message()));
    return bytes;
  }
  std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const override {
    return read_file(path, buffer);
  }
  std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token) const override {
    if (reading_ == spec::FileReading::copy) return std::make_unique<CopiedStream>(path, blocks_);
    return stream_mapped(MappedFile::open(path));
  }
  bool is_local() const override { return true; }
  bool gives_views() const override { return reading_ == spec::FileReading::map; }

 private:
  const spec::FileReading reading_;
  const std::shared_ptr<BlockPool> blocks_ = std::make_shared<BlockPool>();
};

}  // namespace

const std::shared_ptr<const Store>& local_store(spec::FileReading reading) {
  static const std::shared_ptr<const Store> mapping = std::make_shared<LocalStore>(spec::FileReading::map);
  static const std::shared_ptr<const Store> copying = std::make_shared<LocalStore>(spec::FileReading::copy);
  return reading == spec::FileReading::map ? mapping : copying;
}

std::unique_ptr<ByteStream> stream_mapped(std::shared_ptr<const MappedFile> file) {
  return std::make_unique<MappedStream>(std::move(file));
}

}  // namespace chexbench::storage
