#include "formats/tf_example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "formats/wire.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

// The numbers of the fields in example.proto and feature.proto.
constexpr std::uint32_t kExampleFeatures = 1;
constexpr std::uint32_t kFeaturesEntry = 1;
constexpr std::uint32_t kEntryKey = 1;
constexpr std::uint32_t kEntryValue = 2;
constexpr std::uint32_t kFeatureBytes = 1;
constexpr std::uint32_t kFeatureFloats = 2;
constexpr std::uint32_t kFeatureInts = 3;
constexpr std::uint32_t kListValue = 1;

// The keys that are read, as indices into kKeys.
enum Key : std::size_t { kEncoded, kFilename, kFormat, kLabel, kHeight, kWidth, kChannels, kPatient, kClass, kSynset };
constexpr std::array<std::string_view, 10> kKeys = {
    "image/encoded", "image/filename", "image/format", "image/label",       "image/height",
    "image/width",   "image/channels", "patient_id",   "image/class/label", "image/class/synset"};

// How deeply each kind is nested, for protobuf's limit.
constexpr int kInExample = 1, kInFeatures = 2, kInEntry = 3, kInFeature = 4;

// The requested contents of a feature. Its parts are merged as protobuf merges them: lists of one kind are joined, and
// a list of another kind replaces them, because the kinds are a oneof.
struct Feature {
  std::uint32_t kind = 0;  // the number of the kind's field, or 0 before there is one
  std::optional<std::span<const std::byte>> first_bytes;
  std::optional<std::int64_t> first_int;
  std::size_t ints = 0;
  LabelBits ones;  // which of the ints, up to `most_labels`, are 1
  std::optional<std::pair<std::size_t, std::int64_t>>
      no_label;  // the place of the first int but 0 and 1, and its value

  void begin(std::uint32_t list_kind) {
    if (kind != list_kind) *this = {.kind = list_kind};
  }
  void add(std::int64_t value, std::size_t most_labels) {
    if (ints == 0) first_int = value;
    if (value == 1 && ints < most_labels) ones.set(ints);
    if (value != 0 && value != 1 && !no_label) no_label = {ints, value};
    ++ints;
  }
};

class Parser {
 public:
  Parser(const RecordOrigin& origin, std::size_t labels) : origin_(origin), labels_(labels) {}

  ExampleView run(std::span<const std::byte> record) {
    WireReader example(record);
    while (const auto field = example.next()) {
      if (field->is(kExampleFeatures, WireType::length_delimited)) features(field->payload);
    }
    require(example.ok());
    return view();
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(fmt::format("{}: record at offset {}: {}", origin_.file, origin_.offset, reason));
  }
  void require(bool ok) const {
    if (!ok) fail("is not a tf.Example: damaged message");
  }

  void features(std::span<const std::byte> message) {
    WireReader reader(message, kInExample);
    while (const auto field = reader.next()) {
      if (field->is(kFeaturesEntry, WireType::length_delimited)) entry(field->payload);
    }
    require(reader.ok());
  }

  // The last key of an entry counts, and its values are merged. It replaces an earlier entry with that key.
  void entry(std::span<const std::byte> message) {
    std::string_view key;
    WireReader keys(message, kInFeatures);
    while (const auto field = keys.next()) {
      if (!field->is(kEntryKey, WireType::length_delimited)) continue;
      key = field->text();
      if (!is_utf8(key)) fail("is not a tf.Example: a key is not UTF-8");
    }
    require(keys.ok());
    const auto place = static_cast<std::size_t>(std::ranges::find(kKeys, key) - kKeys.begin());
    Feature feature;
    WireReader values(message, kInFeatures);
    while (const auto field = values.next()) {
      if (field->is(kEntryValue, WireType::length_delimited)) {
        merge(field->payload, place == kLabel ? labels_ : 0, feature);
      }
    }
    if (place < kKeys.size()) features_[place] = std::move(feature);
  }

  // Other keys are read, too, because protobuf refuses a message with damage anywhere.
  void merge(std::span<const std::byte> message, std::size_t most_labels, Feature& feature) const {
    WireReader reader(message, kInEntry);
    while (const auto field = reader.next()) {
      if (field->type != WireType::length_delimited) continue;
      if (field->number != kFeatureBytes && field->number != kFeatureFloats && field->number != kFeatureInts) continue;
      feature.begin(field->number);
      add_list(field->payload, most_labels, feature);
    }
    require(reader.ok());
  }

  void add_list(std::span<const std::byte> list, std::size_t most_labels, Feature& feature) const {
    WireReader reader(list, kInFeature);
    while (const auto field = reader.next()) {
      if (field->number != kListValue) continue;
      const bool is_block = field->type == WireType::length_delimited;
      if (feature.kind == kFeatureBytes && is_block) {
        if (!feature.first_bytes) feature.first_bytes = field->payload;
      } else if (feature.kind == kFeatureFloats && is_block) {
        require(field->payload.size() % sizeof(float) == 0);
      } else if (feature.kind == kFeatureInts && is_block) {
        WireReader packed(field->payload);
        while (const auto value = packed.next_varint()) feature.add(static_cast<std::int64_t>(*value), most_labels);
        require(packed.ok());
      } else if (feature.kind == kFeatureInts && field->type == WireType::varint) {
        feature.add(static_cast<std::int64_t>(field->value), most_labels);
      }
    }
    require(reader.ok());
  }

  ExampleView view() const {
    ExampleView view;
    view.encoded = first_bytes(kEncoded);
    view.filename = storage::as_text(first_bytes(kFilename));
    if (view.filename.empty()) fail("has no image/filename");
    if (features_[kFormat]) view.format = storage::as_text(first_bytes(kFormat));
    view.labels = labels();
    if (features_[kSynset]) view.class_name = storage::as_text(first_bytes(kSynset));
    view.height = first_int(kHeight);
    view.width = first_int(kWidth);
    view.channels = first_int(kChannels);
    view.patient = first_int(kPatient);
    return view;
  }

  const Feature& required(Key key) const {
    if (!features_[key]) fail(fmt::format("has no {}", kKeys[key]));
    return *features_[key];
  }

  std::span<const std::byte> first_bytes(Key key) const {
    const Feature& feature = required(key);
    if (!feature.first_bytes) fail(fmt::format("{} holds no bytes", kKeys[key]));
    return *feature.first_bytes;
  }

  std::optional<std::int64_t> first_int(Key key) const {
    return features_[key] ? features_[key]->first_int : std::nullopt;
  }

  LabelBits labels() const {
    if (!features_[kLabel] && features_[kClass]) return class_label(*features_[kClass]);
    const Feature& feature = required(kLabel);
    if (const auto& no_label = feature.no_label) {
      fail(fmt::format("image/label[{}] is {}, expected 0 or 1", no_label->first, no_label->second));
    }
    if (feature.ints != labels_) fail(fmt::format("image/label has {} values, expected {}", feature.ints, labels_));
    return feature.ones;
  }

  LabelBits class_label(const Feature& feature) const {
    if (feature.ints != 1) fail(fmt::format("{} has {} values, expected 1", kKeys[kClass], feature.ints));
    const std::int64_t number = *feature.first_int;
    if (number < 1 || static_cast<std::uint64_t>(number) > labels_) fail(wrong_class(number, labels_));
    LabelBits bits;
    bits.set(static_cast<std::size_t>(number - 1));
    return bits;
  }

  const RecordOrigin& origin_;
  const std::size_t labels_;
  std::array<std::optional<Feature>, kKeys.size()> features_;
};

}  // namespace

std::string wrong_class(std::int64_t number, std::size_t classes) {
  return fmt::format(
      "image/class/label is {}, expected a class from 1 to {}{}", number, classes,
      number == 0 ? ": in TensorFlow's shards of ImageNet, 0 is the background, which no image has" : "");
}

ExampleView parse_example(std::span<const std::byte> record, const RecordOrigin& origin, std::size_t labels) {
  return Parser(origin, labels).run(record);
}

namespace {

constexpr std::uint64_t kBytesList = 1;
constexpr std::uint64_t kInt64List = 3;

std::size_t entry_payload(std::string_view key, std::size_t value) {
  return field_bytes(key.size()) + field_bytes(field_bytes(field_bytes(value)));
}

// Writes one entry of Features: the key, and a Feature of the given kind with one bytes value or a packed list of ints.
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
