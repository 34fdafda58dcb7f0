// Files that are in memory, for parsers that read a store or a path.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "storage/store.hpp"

namespace chexbench::fuzz {

// Streams `bytes`, which must outlive it. If `copies` is set, each piece is a copy of exact size, like those of distant
// stores, so that AddressSanitizer detects reads beyond it.
std::unique_ptr<storage::ByteStream> memory_stream(Bytes bytes, bool copies, std::string path = "input");

// A store of the given files, by path. It claims to be distant, so that the kernel is not asked about its paths.
class MemoryStore final : public storage::Store {
 public:
  explicit MemoryStore(std::map<std::string, Bytes> files) : files_(std::move(files)) {}
  std::vector<storage::StoreEntry> list(const std::string& folder) const override;
  std::optional<std::uint64_t> size(const std::string& path) const override;
  std::span<const std::byte> read(const std::string& path, storage::ByteBuffer& buffer) const override;
  std::unique_ptr<storage::ByteStream> stream(const std::string& path, std::stop_token stop) const override;
  bool is_local() const override { return false; }

 private:
  const std::map<std::string, Bytes> files_;
};

// A file without a name, for parsers that open a path. It exists as long as the object.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  const int descriptor_;
  const std::string path_;
};

}  // namespace chexbench::fuzz
