#include "pipeline/cache_store.hpp"

#include <algorithm>
#include <vector>

#include "core/output_file.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::pipeline {
namespace {

class MemoryStore final : public CacheStore {
 public:
  void add(std::span<const std::byte> header, std::span<const std::byte> payload) override {
    auto blob = std::make_shared<std::vector<std::byte>>();
    blob->reserve(header.size() + payload.size());
    blob->insert(blob->end(), header.begin(), header.end());
    blob->insert(blob->end(), payload.begin(), payload.end());
    blobs_.push_back(std::move(blob));
  }
  void finish() override {}
  std::size_t size() const override { return blobs_.size(); }
  CachedBlob at(std::size_t i) const override { return {*blobs_[i], blobs_[i]}; }

 private:
  std::vector<std::shared_ptr<const std::vector<std::byte>>> blobs_;
};

class FileStore final : public CacheStore {
 public:
  explicit FileStore(const std::string& path) : path_(path), output_(std::make_unique<OutputFile>(path)) {}

  void add(std::span<const std::byte> header, std::span<const std::byte> payload) override {
    starts_.push_back(output_->bytes_written());
    output_->write(header);
    output_->write(payload);
  }
  void finish() override {
    starts_.push_back(output_->bytes_written());
    output_->commit(OutputFile::Durability::renamed);  // no wait for storage: the file can be made again
    output_.reset();
    if (size() > 0) file_ = storage::MappedFile::open(path_);
  }
  std::size_t size() const override { return starts_.empty() ? 0 : starts_.size() - 1; }
  CachedBlob at(std::size_t i) const override {
    return {file_->bytes().subspan(starts_[i], starts_[i + 1] - starts_[i]), file_};
  }

 private:
  const std::string path_;
  std::unique_ptr<OutputFile> output_;
  std::vector<std::uint64_t> starts_;
  std::shared_ptr<const storage::MappedFile> file_;
};

}  // namespace

std::unique_ptr<CacheStore> make_memory_store() { return std::make_unique<MemoryStore>(); }

std::unique_ptr<CacheStore> make_file_store(const std::string& path) { return std::make_unique<FileStore>(path); }

}  // namespace chexbench::pipeline
