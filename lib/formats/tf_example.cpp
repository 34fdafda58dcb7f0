#include "formats/tf_example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/errors.hpp"
#include "core/utf8.hpp"
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
enum Key : std::size_t { kEncoded, kFilename, kFormat, kLabel, kHeight, kWidth, kChannels, kPatient };
constexpr std::array<std::string_view, 8> kKeys = {"image/encoded", "image/filename", "image/format",   "image/label",
                                                   "image/height",  "image/width",    "image/channels", "patient_id"};

// What a feature holds, as far as it is asked for.
struct Feature {
  std::uint32_t kind = 0;  // the number of its list's field; 0: none
  std::optional<std::span<const std::byte>> first_bytes;
  std::optional<std::int64_t> first_int;
  std::size_t ints = 0;                                          // how many
  LabelBits labels;                                              // the ints as labels
  std::optional<std::pair<std::size_t, std::int64_t>> no_label;  // place and value of the first int that is not 0 or 1
};

// Messages that come twice are merged, a list of another kind replaces the one before, and a key replaces an equal one
// before, as in protobuf. All is read, even what is replaced, because protobuf refuses what is damaged anywhere.
class Parser {
 public:
  Parser(const RecordOrigin& origin, std::size_t labels) : origin_(origin), labels_(labels) {}

  ExampleView run(std::span<const std::byte> record) {
    for_each_message(record, 0, kExampleFeatures, [this](auto features) {
      for_each_message(features, 1, kFeaturesEntry, [this](auto message) { entry(message); });
    });
    return view();
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(fmt::format("{}: record at offset {}: {}", origin_.file, origin_.offset, reason));
  }
  void require(bool ok) const {
    if (!ok) fail("is not a tf.Example: damaged message");
  }

  // Calls `visit` with each field of a message that is within `outside` others.
  template <typename Visit>
  void for_each_field(std::span<const std::byte> message, int outside, Visit visit) const {
    WireReader reader(message, outside);
    while (const auto field = reader.next()) visit(*field);
    require(reader.ok());
  }
  template <typename Visit>
  void for_each_message(std::span<const std::byte> message, int outside, std::uint32_t number, Visit visit) const {
    for_each_field(message, outside, [&](const WireField& field) {
      if (field.is(number, WireType::length_delimited)) visit(field.payload);
    });
  }

  void entry(std::span<const std::byte> message) {
    std::string_view key;
    Feature feature;
    for_each_field(message, 2, [&](const WireField& field) {
      if (field.is(kEntryKey, WireType::length_delimited)) {
        key = field.text();
        require(is_utf8(key));
      } else if (field.is(kEntryValue, WireType::length_delimited)) {
        for_each_field(field.payload, 3, [&](const WireField& list) { merge(list, feature); });
      }
    });
    const auto found = std::ranges::find(kKeys, key);
    if (found != kKeys.end()) features_[static_cast<std::size_t>(found - kKeys.begin())] = std::move(feature);
  }

  void merge(const WireField& list, Feature& feature) const {
    const bool is_list = list.type == WireType::length_delimited &&
                         (list.number == kFeatureBytes || list.number == kFeatureFloats || list.number == kFeatureInts);
    if (!is_list) return;
    if (feature.kind != list.number) feature = {.kind = list.number};
    for_each_field(list.payload, 4, [&](const WireField& value) {
      if (value.number == kListValue) add_value(value, feature);
    });
  }

  void add_value(const WireField& value, Feature& feature) const {
    if (feature.kind == kFeatureInts && value.type == WireType::varint) {
      add_int(static_cast<std::int64_t>(value.value), feature);
    }
    if (value.type != WireType::length_delimited) return;
    if (feature.kind == kFeatureBytes) {
      feature.first_bytes = feature.first_bytes.value_or(value.payload);
    } else if (feature.kind == kFeatureFloats) {
      require(value.payload.size() % sizeof(float) == 0);
    } else {
      WireReader packed(value.payload);
      while (const auto number = packed.next_varint()) add_int(static_cast<std::int64_t>(*number), feature);
      require(packed.ok());
    }
  }

  void add_int(std::int64_t value, Feature& feature) const {
    feature.first_int = feature.first_int.value_or(value);
    if (value == 1 && feature.ints < labels_) feature.labels.set(feature.ints);
    if (value != 0 && value != 1 && !feature.no_label) feature.no_label = {feature.ints, value};
    ++feature.ints;
  }

  ExampleView view() {
    ExampleView view;
    view.encoded = first_bytes(kEncoded);
    view.filename = storage::as_text(first_bytes(kFilename));
    if (view.filename.empty()) fail("has no image/filename");
    if (features_[kFormat]) view.format = storage::as_text(first_bytes(kFormat));
    view.labels = labels();
    view.height = first_int(kHeight);
    view.width = first_int(kWidth);
    view.channels = first_int(kChannels);
    view.patient = first_int(kPatient);
    return view;
  }

  Feature& required(Key key) {
    if (!features_[key]) fail(fmt::format("has no {}", kKeys[key]));
    return *features_[key];
  }

  std::span<const std::byte> first_bytes(Key key) {
    const Feature& feature = required(key);
    if (!feature.first_bytes) fail(fmt::format("{} holds no bytes", kKeys[key]));
    return *feature.first_bytes;
  }

  std::optional<std::int64_t> first_int(Key key) const {
    return features_[key] ? features_[key]->first_int : std::nullopt;
  }

  LabelBits labels() {
    Feature& feature = required(kLabel);
    if (const auto& found = feature.no_label) {
      fail(fmt::format("image/label[{}] is {}, expected 0 or 1", found->first, found->second));
    }
    if (feature.ints != labels_) fail(fmt::format("image/label has {} values, expected {}", feature.ints, labels_));
    return std::move(feature.labels);
  }

  const RecordOrigin& origin_;
  const std::size_t labels_;
  std::array<std::optional<Feature>, kKeys.size()> features_;
};

}  // namespace

ExampleView parse_example(std::span<const std::byte> record, const RecordOrigin& origin, std::size_t labels) {
  return Parser(origin, labels).run(record);
}

}  // namespace chexbench::formats
