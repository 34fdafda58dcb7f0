#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <variant>

#include "core/errors.hpp"
#include "data/tf_example.hpp"

namespace chexbench::data {
namespace {

using Bytes = std::span<const std::byte>;
struct Field;
// A field's value: a number, or bytes that may themselves be a message.
using Message = std::vector<Field>;
struct Field {
  std::uint64_t number = 0;
  std::uint64_t type = 0;
  std::uint64_t value = 0;
  Bytes bytes;
};

// Reads a varint at `position`, which it moves. @throws std::out_of_range at the end of the bytes
std::uint64_t varint(Bytes bytes, std::size_t& position) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (position >= bytes.size()) break;
    const auto byte = static_cast<std::uint64_t>(bytes[position++]);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw std::out_of_range("varint");
}

Message fields_of(Bytes bytes) {
  Message message;
  for (std::size_t position = 0; position < bytes.size();) {
    const std::uint64_t tag = varint(bytes, position);
    Field field{.number = tag >> 3 & 0xffffffff, .type = tag & 7, .value = 0, .bytes = {}};
    std::uint64_t length = 0;
    if (field.type == 0)
      field.value = varint(bytes, position);
    else if (field.type == 1)
      length = 8;
    else if (field.type == 2)
      length = varint(bytes, position);
    else if (field.type == 5)
      length = 4;
    else
      throw std::out_of_range("wire type");
    if (length > bytes.size() - position) throw std::out_of_range("length");
    field.bytes = bytes.subspan(position, length);
    position += length;
    message.push_back(field);
  }
  return message;
}

// The list of a feature's kind; bytes values and int64 values.
struct Feature {
  std::vector<Bytes> bytes;
  std::vector<std::int64_t> ints;
};

Feature feature_of(Bytes message) {
  Feature feature;
  for (const Field& list : fields_of(message)) {
    if (list.type != 2) continue;
    if (list.number == 1) {
      feature.bytes.clear();
      for (const Field& value : fields_of(list.bytes)) {
        if (value.number == 1 && value.type == 2) feature.bytes.push_back(value.bytes);
      }
    } else if (list.number == 3) {
      feature.ints.clear();
      for (const Field& value : fields_of(list.bytes)) {
        if (value.number != 1) continue;
        if (value.type == 0) feature.ints.push_back(static_cast<std::int64_t>(value.value));
        if (value.type != 2) continue;
        for (std::size_t position = 0; position < value.bytes.size();) {
          feature.ints.push_back(static_cast<std::int64_t>(varint(value.bytes, position)));
        }
      }
    }
  }
  return feature;
}

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::map<std::string_view, Feature> features_of(Bytes record) {
  std::map<std::string_view, Feature> features;
  for (const Field& root : fields_of(record)) {
    if (root.number != 1 || root.type != 2) continue;
    for (const Field& entry : fields_of(root.bytes)) {
      if (entry.number != 1 || entry.type != 2) continue;
      std::string_view key;
      Bytes value;
      for (const Field& part : fields_of(entry.bytes)) {
        if (part.number == 1 && part.type == 2) key = as_text(part.bytes);
        if (part.number == 2 && part.type == 2) value = part.bytes;
      }
      features[key] = feature_of(value);
    }
  }
  return features;
}

}  // namespace

ExampleView parse_example_plain(std::span<const std::byte> record, const RecordOrigin& origin) {
  const auto fail = [&](const std::string& reason) {
    throw DataError(fmt::format("{}: record at offset {}: {}", origin.file, origin.offset, reason));
  };
  std::map<std::string_view, Feature> features;
  try {
    features = features_of(record);
  } catch (const std::out_of_range&) {
    fail("is not a tf.Example: damaged message");
  }
  const auto bytes = [&](std::string_view key, bool required) -> Bytes {
    const auto found = features.find(key);
    if (found == features.end() && required) fail(fmt::format("has no {}", key));
    if (found == features.end()) return {};
    if (found->second.bytes.empty()) fail(fmt::format("{} holds no bytes", key));
    return found->second.bytes.front();
  };
  const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
    const auto found = features.find(key);
    if (found == features.end() || found->second.ints.empty()) return std::nullopt;
    return found->second.ints.front();
  };
  ExampleView view;
  view.encoded = bytes("image/encoded", true);
  view.filename = as_text(bytes("image/filename", true));
  if (view.filename.empty()) fail("has no image/filename");
  view.format = as_text(bytes("image/format", false));
  view.height = integer("image/height");
  view.width = integer("image/width");
  view.channels = integer("image/channels");
  view.patient = integer("patient_id");
  if (!features.contains("image/label")) fail("has no image/label");
  const std::vector<std::int64_t>& labels = features["image/label"].ints;
  for (std::size_t f = 0; f < labels.size(); ++f) {
    if (labels[f] != 0 && labels[f] != 1) {
      fail(fmt::format("image/label[{}] is {}, expected 0 or 1", f, labels[f]));
    }
  }
  if (labels.size() != kFindings) fail(fmt::format("image/label has {} values, expected {}", labels.size(), kFindings));
  for (unsigned f = 0; f < kFindings; ++f) {
    if (labels[f] == 1) view.labels = static_cast<LabelBits>(view.labels | 1u << f);
  }
  return view;
}

}  // namespace chexbench::data
