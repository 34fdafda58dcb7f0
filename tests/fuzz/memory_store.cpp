#include "fuzz/memory_store.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "storage/untrusted.hpp"

namespace chexbench::fuzz {
namespace {

class Stream final : public storage::ByteStream {
 public:
  Stream(Bytes bytes, bool copies, std::string path) : bytes_(bytes), copies_(copies), path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  storage::SharedBytes take(std::size_t bytes) override {
    require(bytes <= bytes_.size() - taken_, "more is taken from a stream than it has left");
    const Bytes view = bytes_.subspan(taken_, bytes);
    taken_ += bytes;
    if (!copies_) return {view, nullptr};
    const std::shared_ptr<std::byte[]> copy = std::make_shared_for_overwrite<std::byte[]>(bytes);
    std::ranges::copy(view, copy.get());
    return {{copy.get(), bytes}, copy};
  }

 private:
  const Bytes bytes_;
  const bool copies_;
  const std::string path_;
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<storage::ByteStream> memory_stream(Bytes bytes, bool copies, std::string path) {
  return std::make_unique<Stream>(bytes, copies, std::move(path));
}

std::vector<storage::StoreEntry> MemoryStore::list(const std::string& folder) const {
  using Kind = storage::StoreEntry::Kind;
  std::vector<storage::StoreEntry> entries;
  const std::string prefix = folder + "/";
  for (auto file = files_.lower_bound(prefix); file != files_.end() && file->first.starts_with(prefix); ++file) {
    const std::string_view rest = std::string_view(file->first).substr(prefix.size());
    const std::string_view name = rest.substr(0, rest.find('/'));
    const bool is_file = name.size() == rest.size();
    const bool is_listed = !is_file && !entries.empty() && entries.back().kind == Kind::folder &&
                           entries.back().name == name;      // like consecutive files of one folder
    if (is_listed || !storage::is_one_name(name)) continue;  // no store lists anything else
    entries.push_back({std::string(name), is_file ? Kind::file : Kind::folder, {}});
    if (is_file) entries.back().bytes = file->second.size();
  }
  return entries;
}

std::optional<std::uint64_t> MemoryStore::size(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? std::nullopt : std::optional<std::uint64_t>(found->second.size());
}

std::span<const std::byte> MemoryStore::read(const std::string& path, storage::ByteBuffer& buffer) const {
  const auto found = files_.find(path);
  if (found == files_.end()) throw DataError(fmt::format("cannot read {}: not found", path));
  std::byte* const copy = buffer.reserve(found->second.size());
  std::ranges::copy(found->second, copy);
  return {copy, found->second.size()};
}

std::unique_ptr<storage::ByteStream> MemoryStore::stream(const std::string& path, std::stop_token) const {
  const auto found = files_.find(path);
  if (found == files_.end()) throw DataError(fmt::format("cannot read {}: not found", path));
  return memory_stream(found->second, true, path);
}

MemoryFile::MemoryFile(Bytes bytes)
    : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  const bool is_written =
      descriptor_ >= 0 && ::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  require(is_written, "no file could be made in memory");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

}  // namespace chexbench::fuzz
