#include <cstring>

#include "formats/tf_example.hpp"
#include "formats/wire_writer.hpp"

namespace chexbench::formats {
namespace {

constexpr std::uint64_t kBytesList = 1;
constexpr std::uint64_t kInt64List = 3;

std::size_t entry_payload(std::string_view key, std::size_t value) {
  return field_bytes(key.size()) + field_bytes(field_bytes(field_bytes(value)));
}

// Writes one entry of Features: the key, and a Feature of the given kind that holds one bytes value or a packed list of
// ints.
void write_entry(WireWriter& writer, std::string_view key, std::uint64_t kind, std::span<const std::byte> value) {
  const std::size_t list = field_bytes(value.size());
  const std::size_t feature = field_bytes(list);
  writer.head(1, entry_payload(key, value.size()));
  writer.field(1, key);
  writer.head(2, feature);
  writer.head(kind, list);
  writer.field(1, value);
}

struct Entry {
  std::string_view key;
  std::uint64_t kind;
  std::span<const std::byte> value;
};

// The bytes of a packed list of one int64.
class PackedInt {
 public:
  explicit PackedInt(std::int64_t value) { WireWriter(bytes_).varint(static_cast<std::uint64_t>(value)); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

void write_example(const ExampleFields& fields, std::span<const std::byte> encoded, std::vector<std::byte>& record) {
  const PackedInt channels(fields.channels), height(fields.height), width(fields.width), patient(fields.patient);
  const PackedInt class_label(fields.class_label.value_or(0));
  std::vector<std::byte> labels(fields.label_count);
  for (std::size_t f = 0; f < labels.size(); ++f) labels[f] = std::byte{fields.labels.has(f)};
  std::vector<Entry> entries = {{"image/channels", kInt64List, channels.bytes()},
                                {"image/encoded", kBytesList, encoded},
                                {"image/filename", kBytesList, std::as_bytes(std::span(fields.filename))},
                                {"image/format", kBytesList, std::as_bytes(std::span(fields.format))},
                                {"image/height", kInt64List, height.bytes()},
                                {"image/label", kInt64List, labels},
                                {"image/width", kInt64List, width.bytes()},
                                {"patient_id", kInt64List, patient.bytes()}};
  if (fields.class_label) {
    entries = {{"image/channels", kInt64List, channels.bytes()},
               {"image/class/label", kInt64List, class_label.bytes()},
               {"image/class/synset", kBytesList, std::as_bytes(std::span(fields.class_name))},
               {"image/encoded", kBytesList, encoded},
               {"image/filename", kBytesList, std::as_bytes(std::span(fields.filename))},
               {"image/format", kBytesList, std::as_bytes(std::span(fields.format))},
               {"image/height", kInt64List, height.bytes()},
               {"image/width", kInt64List, width.bytes()}};
  }
  std::size_t features = 0;
  for (const Entry& entry : entries) {
    features += field_bytes(entry_payload(entry.key, entry.value.size()));
  }
  record.clear();
  record.reserve(field_bytes(features));
  WireWriter writer(record);
  writer.head(1, features);
  for (const Entry& entry : entries) write_entry(writer, entry.key, entry.kind, entry.value);
}

}  // namespace chexbench::formats
