#include "formats/tf_example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/errors.hpp"
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
constexpr std::uint32_t kFeatureInts = 3;
constexpr std::uint32_t kListValue = 1;

// The keys that are read, as indices into kKeys.
enum Key : std::size_t { kEncoded, kFilename, kFormat, kLabel, kHeight, kWidth, kChannels, kPatient };
constexpr std::array<std::string_view, 8> kKeys = {"image/encoded", "image/filename", "image/format",   "image/label",
                                                   "image/height",  "image/width",    "image/channels", "patient_id"};

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
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (field->is(kFeaturesEntry, WireType::length_delimited)) entry(field->payload);
    }
    require(reader.ok());
  }

  void entry(std::span<const std::byte> message) {
    WireReader reader(message);
    std::string_view key;
    std::span<const std::byte> feature;
    while (const auto field = reader.next()) {
      if (field->is(kEntryKey, WireType::length_delimited)) key = field->text();
      if (field->is(kEntryValue, WireType::length_delimited)) feature = field->payload;
    }
    require(reader.ok());
    const auto found = std::ranges::find(kKeys, key);
    if (found != kKeys.end()) features_[static_cast<std::size_t>(found - kKeys.begin())] = feature;
  }

  // If a key came twice, features_ holds its last feature, and only that one is checked.
  ExampleView view() const {
    ExampleView view;
    view.encoded = first_bytes(kEncoded, required(kEncoded));
    view.filename = storage::as_text(first_bytes(kFilename, required(kFilename)));
    if (view.filename.empty()) fail("has no image/filename");
    if (const auto& format = features_[kFormat]) view.format = storage::as_text(first_bytes(kFormat, *format));
    view.labels = labels(required(kLabel));
    view.height = first_int(kHeight);
    view.width = first_int(kWidth);
    view.channels = first_int(kChannels);
    view.patient = first_int(kPatient);
    return view;
  }

  std::span<const std::byte> required(Key key) const {
    if (!features_[key]) fail(fmt::format("has no {}", kKeys[key]));
    return *features_[key];
  }

  // Returns the list inside a feature, or std::nullopt if it holds another kind.
  std::optional<std::span<const std::byte>> list(std::span<const std::byte> feature, std::uint32_t kind) const {
    std::optional<std::span<const std::byte>> found;
    WireReader reader(feature);
    while (const auto field = reader.next()) {
      if (field->is(kind, WireType::length_delimited)) found = field->payload;
    }
    require(reader.ok());
    return found;
  }

  std::span<const std::byte> first_bytes(Key key, std::span<const std::byte> feature) const {
    const auto values = list(feature, kFeatureBytes);
    std::optional<std::span<const std::byte>> first;
    WireReader reader(values.value_or(std::span<const std::byte>()));
    while (const auto field = reader.next()) {
      if (field->is(kListValue, WireType::length_delimited)) first = first.value_or(field->payload);
    }
    require(reader.ok());
    if (first) return *first;
    fail(fmt::format("{} holds no bytes", kKeys[key]));
  }

  // Calls `visit` for each value of the feature's int64 list, whether that is packed or not.
  template <typename Visit>
  void for_each_int(std::span<const std::byte> feature, Visit visit) const {
    const auto values = list(feature, kFeatureInts);
    if (!values) return;
    WireReader reader(*values);
    while (const auto field = reader.next()) {
      if (field->is(kListValue, WireType::varint)) visit(static_cast<std::int64_t>(field->value));
      if (!field->is(kListValue, WireType::length_delimited)) continue;
      WireReader packed(field->payload);
      while (const auto value = packed.next_varint()) visit(static_cast<std::int64_t>(*value));
      require(packed.ok());
    }
    require(reader.ok());
  }

  std::optional<std::int64_t> first_int(Key key) const {
    std::optional<std::int64_t> first;
    for_each_int(features_[key].value_or(std::span<const std::byte>()),
                 [&](std::int64_t value) { first = first.value_or(value); });
    return first;
  }

  LabelBits labels(std::span<const std::byte> feature) const {
    std::size_t count = 0;
    LabelBits labels;
    for_each_int(feature, [&](std::int64_t value) {
      if (value != 0 && value != 1) fail(fmt::format("image/label[{}] is {}, expected 0 or 1", count, value));
      if (value == 1 && count < labels_) labels.set(count);
      ++count;
    });
    if (count != labels_) fail(fmt::format("image/label has {} values, expected {}", count, labels_));
    return labels;
  }

  const RecordOrigin& origin_;
  const std::size_t labels_;
  std::array<std::optional<std::span<const std::byte>>, kKeys.size()> features_;
};

}  // namespace

ExampleView parse_example(std::span<const std::byte> record, const RecordOrigin& origin, std::size_t labels) {
  return Parser(origin, labels).run(record);
}

}  // namespace chexbench::formats
