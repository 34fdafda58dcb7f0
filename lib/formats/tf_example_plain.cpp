#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "core/errors.hpp"
#include "formats/tf_example.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

using Bytes = std::span<const std::byte>;
// A field with its value: a number, or bytes that may themselves be a message.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t type = 0;
  std::uint64_t value = 0;
  Bytes bytes;
};
using Message = std::vector<Field>;

// Reads the varint at `position` and moves `position` past it.
// @throws std::out_of_range if the bytes end before the varint does, or if it has more than ten bytes
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

// Returns the fields of the last list of the given kind in a feature.
Message list_of(Bytes feature, std::uint64_t kind) {
  Bytes last;
  for (const Field& list : fields_of(feature)) {
    if (list.number == kind && list.type == 2) last = list.bytes;
  }
  return fields_of(last);
}

std::vector<Bytes> bytes_of(Bytes feature) {
  std::vector<Bytes> values;
  for (const Field& value : list_of(feature, 1)) {
    if (value.number == 1 && value.type == 2) values.push_back(value.bytes);
  }
  return values;
}

std::vector<std::int64_t> ints_of(Bytes feature) {
  std::vector<std::int64_t> values;
  for (const Field& value : list_of(feature, 3)) {
    if (value.number != 1) continue;
    if (value.type == 0) values.push_back(static_cast<std::int64_t>(value.value));
    if (value.type != 2) continue;
    for (std::size_t position = 0; position < value.bytes.size();) {
      values.push_back(static_cast<std::int64_t>(varint(value.bytes, position)));
    }
  }
  return values;
}

std::map<std::string_view, Bytes> features_of(Bytes record) {
  std::map<std::string_view, Bytes> features;
  for (const Field& root : fields_of(record)) {
    if (root.number != 1 || root.type != 2) continue;
    for (const Field& entry : fields_of(root.bytes)) {
      if (entry.number != 1 || entry.type != 2) continue;
      std::string_view key;
      Bytes value;
      for (const Field& part : fields_of(entry.bytes)) {
        if (part.number == 1 && part.type == 2) key = storage::as_text(part.bytes);
        if (part.number == 2 && part.type == 2) value = part.bytes;
      }
      features[key] = value;
    }
  }
  return features;
}

// @throws std::invalid_argument with the reason if a label is not 0 or 1, or if their number is not `expected`
LabelBits label_bits(const std::vector<std::int64_t>& labels, std::size_t expected) {
  LabelBits bits;
  for (std::size_t f = 0; f < labels.size(); ++f) {
    if (labels[f] != 0 && labels[f] != 1) {
      throw std::invalid_argument(fmt::format("image/label[{}] is {}, expected 0 or 1", f, labels[f]));
    }
    if (labels[f] == 1 && f < expected) bits.set(f);
  }
  if (labels.size() != expected) {
    throw std::invalid_argument(fmt::format("image/label has {} values, expected {}", labels.size(), expected));
  }
  return bits;
}

ExampleView view_of(const std::map<std::string_view, Bytes>& features, std::size_t labels) {
  const auto required = [&](std::string_view key) {
    if (!features.contains(key)) throw std::invalid_argument(fmt::format("has no {}", key));
    return features.at(key);
  };
  const auto bytes = [&](std::string_view key) {
    const std::vector<Bytes> values = bytes_of(required(key));
    if (values.empty()) throw std::invalid_argument(fmt::format("{} holds no bytes", key));
    return values.front();
  };
  const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
    const std::vector<std::int64_t> values = features.contains(key) ? ints_of(features.at(key)) : ints_of({});
    return values.empty() ? std::nullopt : std::optional(values.front());
  };
  ExampleView view;
  view.encoded = bytes("image/encoded");
  view.filename = storage::as_text(bytes("image/filename"));
  if (view.filename.empty()) throw std::invalid_argument("has no image/filename");
  if (features.contains("image/format")) view.format = storage::as_text(bytes("image/format"));
  view.height = integer("image/height");
  view.width = integer("image/width");
  view.channels = integer("image/channels");
  view.patient = integer("patient_id");
  view.labels = label_bits(ints_of(required("image/label")), labels);
  return view;
}

}  // namespace

ExampleView parse_example_plain(std::span<const std::byte> record, const RecordOrigin& origin, std::size_t labels) {
  const auto failure = [&](std::string_view reason) {
    return DataError(fmt::format("{}: record at offset {}: {}", origin.file, origin.offset, reason));
  };
  try {
    return view_of(features_of(record), labels);
  } catch (const std::out_of_range&) {
    throw failure("is not a tf.Example: damaged message");
  } catch (const std::invalid_argument& error) {
    throw failure(error.what());
  }
}

}  // namespace chexbench::formats
