#include "pipeline/cache_store.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/output_file.hpp"
#include "pipeline/record_stream.hpp"
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
    output_->commit(OutputFile::Durability::renamed);  // no sync: the file can be made again
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

namespace {

// A blob consists of this header, then for each image its number (32 bits) and one byte for each of its labels (0, 1 or
// kIgnoredLabel), then the payload: the bytes of a record or the pixels.
struct Header {
  std::uint64_t offset = 0;  // Record::offset
  std::uint32_t file = 0;
  std::uint32_t images = 0;
};

void append(std::vector<std::byte>& to, const auto& value) {
  static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<decltype(value)>>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

// Reads values from the front of a blob.
class CacheCodec::Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

std::size_t CacheCodec::bytes_of(const Element& element) const {
  if (const auto* const record = std::get_if<Record>(&element.value)) return sizeof(Header) + record->bytes.size();
  const auto labels = static_cast<std::size_t>(op_.context().shape.labels);
  return sizeof(Header) + sizeof(ExampleId::image) + labels + op_.image_bytes();
}

KeptElements::value_type CacheCodec::key_of(const Element& element) {
  if (const auto* const record = std::get_if<Record>(&element.value)) return {record->file, record->offset};
  return {std::get<Example>(element.value).id.image, 0};
}

std::size_t CacheCodec::add(const Element& element, CacheStore& store) {
  Header header;
  std::vector<std::byte> front(sizeof(header));  // room for the header, which is known last
  const auto labels = static_cast<std::size_t>(op_.context().shape.labels);
  std::span<const std::byte> payload;
  if (const auto* file = std::get_if<FileRef>(&element.value)) {
    header.file = file->file;
  } else if (const auto* record = std::get_if<Record>(&element.value)) {
    header.file = record->file;
    header.offset = record->offset;
    payload = record->bytes;
  } else if (const auto* example = std::get_if<Example>(&element.value)) {
    append(front, example->id.image);
    std::vector<float> values(labels);
    expand_labels(example->labels, values);
    for (const float value : values) append(front, static_cast<std::int8_t>(value));
    header.images = 1;
    payload = {example->image.get(), op_.image_bytes()};
  } else {
    Batch& batch = *std::get<BatchLease>(element.value);
    for (int slot = 0; slot < batch.valid; ++slot) {
      append(front, batch.ids[static_cast<std::size_t>(slot)].image);
      for (const float label : batch.label(slot)) append(front, static_cast<std::int8_t>(label));
    }
    header.images = static_cast<std::uint32_t>(batch.valid);
    payload = {batch.images, header.images * op_.image_bytes()};
  }
  std::memcpy(front.data(), &header, sizeof(header));
  store.add(front, payload);
  return front.size() + payload.size();
}

void CacheCodec::load(Element& element) {
  auto* record = std::get_if<Record>(&element.value);
  if (record == nullptr) return;
  check_record(op_, *record);
  if (record->bytes.empty()) read_image_file(op_, *record);
}

Element CacheCodec::restore(const CachedBlob& blob, std::uint32_t epoch, const std::stop_token& stop) {
  Reader reader(blob.bytes);
  const auto header = reader.take<Header>();
  switch (op_.kind()) {
    case spec::ElementKind::record:
      return {epoch, Record{header.file, header.offset, reader.rest(), blob.owner, {}}};
    case spec::ElementKind::example:
      return {epoch, restore_example(reader, epoch)};
    case spec::ElementKind::batch:
      return {epoch, restore_batch(reader, header.images, epoch, stop)};
    default:
      return {epoch, FileRef{header.file}};
  }
}

Example CacheCodec::restore_example(Reader& reader, std::uint32_t epoch) {
  Example example{op_.resources().examples->acquire(), {}, {.image = reader.take<std::uint32_t>(), .epoch = epoch}};
  for (std::size_t f = 0; f < static_cast<std::size_t>(op_.context().shape.labels); ++f) {
    const auto label = static_cast<float>(reader.take<std::int8_t>());
    if (label == kIgnoredLabel) {
      example.labels.ignore(f);
    } else if (label != 0) {
      example.labels.set(f);
    }
  }
  std::memcpy(example.image.get(), reader.rest().data(), op_.image_bytes());
  return example;
}

BatchLease CacheCodec::restore_batch(Reader& reader, std::uint32_t images, std::uint32_t epoch,
                                     const std::stop_token& stop) {
  BatchLease batch = op_.resources().batches->acquire(stop);
  if (!batch) return batch;
  for (std::uint32_t i = 0; i < images; ++i) {
    batch->ids[i] = {.image = reader.take<std::uint32_t>(), .epoch = epoch};
    for (float& label : batch->label(static_cast<int>(i))) label = reader.take<std::int8_t>();
  }
  std::memcpy(batch->images, reader.rest().data(), reader.rest().size());
  batch->valid = static_cast<int>(images);
  return batch;
}

}  // namespace chexbench::pipeline
