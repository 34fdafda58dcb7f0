#include "pipeline/cache_codec.hpp"

#include <cstring>
#include <type_traits>

#include "core/clock.hpp"

namespace chexbench::pipeline {
namespace {

struct ImageMeta {
  std::uint32_t image = 0;
  data::LabelBits labels = 0;
};

// A blob is: header, one ImageMeta for each image, payload.
struct Header {
  std::uint64_t offset = 0;  // of a record in its shard
  std::uint32_t file = 0;
  std::uint32_t images = 0;
};

data::LabelBits pack_labels(std::span<const float> labels) {
  unsigned bits = 0;
  for (std::size_t f = 0; f < labels.size(); ++f) bits |= labels[f] != 0 ? 1u << f : 0u;
  return static_cast<data::LabelBits>(bits);
}

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

std::size_t CacheCodec::add(const Element& element, CacheStore& store) {
  Header header;
  std::vector<ImageMeta> images;
  std::span<const std::byte> payload;
  if (const auto* file = std::get_if<FileRef>(&element.value)) {
    header.file = file->file;
  } else if (const auto* record = std::get_if<Record>(&element.value)) {
    header.file = record->file;
    header.offset = record->offset;
    payload = record->bytes;
  } else if (const auto* example = std::get_if<Example>(&element.value)) {
    images.push_back({example->id.image, example->labels});
    payload = {example->image.get(), op_.image_bytes()};
  } else {
    Batch& batch = *std::get<BatchLease>(element.value);
    for (int slot = 0; slot < batch.valid; ++slot) {
      images.push_back({batch.ids[static_cast<std::size_t>(slot)].image, pack_labels(batch.label(slot))});
    }
    payload = {batch.images, images.size() * op_.image_bytes()};
  }
  header.images = static_cast<std::uint32_t>(images.size());
  std::vector<std::byte> front;
  append(front, header);
  for (const ImageMeta& image : images) append(front, image);
  store.add(front, payload);
  return front.size() + payload.size();
}

void CacheCodec::load(Element& element) {
  auto* record = std::get_if<Record>(&element.value);
  if (record == nullptr || !record->bytes.empty()) return;
  const double start_s = now_s();
  const data::Dataset& dataset = op_.context().dataset;
  const auto bytes = dataset.store->read(dataset.images.at(record->file).path, file_bytes_);
  const auto owner = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  record->bytes = *owner;
  record->bytes_owner = owner;
  book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
  op_.stats().bytes_read.add(static_cast<std::int64_t>(bytes.size()));
}

Element CacheCodec::restore(const CachedBlob& blob, std::uint32_t epoch, const std::stop_token& stop) {
  Reader reader(blob.bytes);
  const auto header = reader.take<Header>();
  switch (op_.kind()) {
    case spec::ElementKind::record:
      return {epoch, Record{header.file, header.offset, reader.rest(), blob.owner}};
    case spec::ElementKind::example:
      return {epoch, restore_example(reader, epoch)};
    case spec::ElementKind::batch:
      return {epoch, restore_batch(reader, header.images, epoch, stop)};
    default:
      return {epoch, FileRef{header.file}};
  }
}

Example CacheCodec::restore_example(Reader& reader, std::uint32_t epoch) {
  const auto meta = reader.take<ImageMeta>();
  Example example{op_.resources().examples->acquire(), meta.labels, {.image = meta.image, .epoch = epoch}};
  std::memcpy(example.image.get(), reader.rest().data(), op_.image_bytes());
  return example;
}

BatchLease CacheCodec::restore_batch(Reader& reader, std::uint32_t images, std::uint32_t epoch,
                                     const std::stop_token& stop) {
  BatchLease batch = op_.resources().batches->acquire(stop);
  if (!batch) return batch;
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto meta = reader.take<ImageMeta>();
    expand_labels(meta.labels, batch->label(static_cast<int>(i)));
    batch->ids[i] = {.image = meta.image, .epoch = epoch};
  }
  std::memcpy(batch->images, reader.rest().data(), reader.rest().size());
  batch->valid = static_cast<int>(images);
  return batch;
}

}  // namespace chexbench::pipeline
