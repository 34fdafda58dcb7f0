#include "formats/tf_example_plain.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "core/errors.hpp"
#include "core/printable.hpp"
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

[[noreturn]] void damaged() { throw std::out_of_range("damaged message"); }

// Reads the varint at `position` and moves `position` past it.
// @throws std::out_of_range if the bytes end before the varint does, or if it has more than `most` bytes
std::uint64_t varint(Bytes bytes, std::size_t& position, unsigned most = 10) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < most && position < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint64_t>(bytes[position++]);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  damaged();
}

Field read_field(Bytes bytes, std::size_t& position, int depth);

// Moves `position` past the end of the group that began before it.
void pass_group(Bytes bytes, std::size_t& position, std::uint64_t number, int depth) {
  if (depth > 100) damaged();  // protobuf's limit
  while (true) {
    const Field field = read_field(bytes, position, depth);
    if (field.type == 4 && field.number != number) damaged();
    if (field.type == 4) return;
  }
}

// Reads the field at `position` and moves `position` past it. `depth` counts the messages and groups around it.
Field read_field(Bytes bytes, std::size_t& position, int depth) {
  const std::uint64_t tag = varint(bytes, position, 5) & 0xffffffff;
  Field field{.number = tag >> 3, .type = tag & 7, .value = 0, .bytes = {}};
  if (field.number == 0 || field.type > 5) damaged();
  if (field.type == 0) field.value = varint(bytes, position);
  if (field.type == 3) pass_group(bytes, position, field.number, depth + 1);
  std::uint64_t length = 0;
  if (field.type == 1) length = 8;
  if (field.type == 2) length = varint(bytes, position, 5);
  if (field.type == 5) length = 4;
  if (length > bytes.size() - position) damaged();
  field.bytes = bytes.subspan(position, length);
  position += length;
  return field;
}

Message fields_of(Bytes bytes, int depth) {
  Message message;
  for (std::size_t position = 0; position < bytes.size();) {
    message.push_back(read_field(bytes, position, depth));
    if (message.back().type == 4) damaged();  // the end of a group that did not begin
  }
  return message;
}

// A feature holds values of the kind that came last: bytes 1, floats 2, or int64 3.
struct Feature {
  std::uint64_t kind = 0;
  std::vector<Bytes> bytes;
  std::vector<std::int64_t> ints;
};

void add_value(const Field& value, Feature& feature) {
  if (feature.kind == 1 && value.type == 2) feature.bytes.push_back(value.bytes);
  if (feature.kind == 2 && value.type == 2 && value.bytes.size() % 4 != 0) damaged();
  if (feature.kind == 3 && value.type == 0) feature.ints.push_back(static_cast<std::int64_t>(value.value));
  if (feature.kind != 3 || value.type != 2) return;
  for (std::size_t position = 0; position < value.bytes.size();) {
    feature.ints.push_back(static_cast<std::int64_t>(varint(value.bytes, position)));
  }
}

void merge(Bytes message, Feature& feature) {
  for (const Field& list : fields_of(message, 3)) {
    if (list.type != 2 || list.number > 3) continue;
    if (feature.kind != list.number) feature = {.kind = list.number, .bytes = {}, .ints = {}};
    for (const Field& value : fields_of(list.bytes, 4)) {
      if (value.number == 1) add_value(value, feature);
    }
  }
}

using Features = std::map<std::string_view, Feature>;

Features features_of(Bytes record) {
  Features features;
  for (const Field& root : fields_of(record, 0)) {
    if (root.number != 1 || root.type != 2) continue;
    for (const Field& entry : fields_of(root.bytes, 1)) {
      if (entry.number != 1 || entry.type != 2) continue;
      std::string_view key;
      Feature value;
      for (const Field& part : fields_of(entry.bytes, 2)) {
        if (part.number == 1 && part.type == 2) key = storage::as_text(part.bytes);
        if (part.number == 2 && part.type == 2) merge(part.bytes, value);
        if (!is_utf8(key)) throw std::invalid_argument("is not a tf.Example: a key is not UTF-8");
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

// @throws std::invalid_argument with the reason unless there is exactly one number, from 1 to `classes`
LabelBits class_bit(const std::vector<std::int64_t>& numbers, std::size_t classes) {
  if (numbers.size() != 1) {
    throw std::invalid_argument(fmt::format("image/class/label has {} values, expected 1", numbers.size()));
  }
  const std::int64_t number = numbers.front();
  if (number < 1 || static_cast<std::uint64_t>(number) > classes) {
    throw std::invalid_argument(wrong_class(number, classes));
  }
  LabelBits bits;
  bits.set(static_cast<std::size_t>(number - 1));
  return bits;
}

ExampleView view_of(const Features& features, std::size_t labels) {
  const auto required = [&](std::string_view key) {
    if (!features.contains(key)) throw std::invalid_argument(fmt::format("has no {}", key));
    return features.at(key);
  };
  const auto bytes = [&](std::string_view key) {
    const std::vector<Bytes> values = required(key).bytes;
    if (values.empty()) throw std::invalid_argument(fmt::format("{} holds no bytes", key));
    return values.front();
  };
  const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
    if (!features.contains(key) || features.at(key).ints.empty()) return std::nullopt;
    return features.at(key).ints.front();
  };
  ExampleView view;
  view.encoded = bytes("image/encoded");
  view.filename = storage::as_text(bytes("image/filename"));
  if (view.filename.empty()) throw std::invalid_argument("has no image/filename");
  if (features.contains("image/format")) view.format = storage::as_text(bytes("image/format"));
  if (features.contains("image/class/synset")) view.class_name = storage::as_text(bytes("image/class/synset"));
  view.height = integer("image/height");
  view.width = integer("image/width");
  view.channels = integer("image/channels");
  view.patient = integer("patient_id");
  const bool has_class = !features.contains("image/label") && features.contains("image/class/label");
  view.labels = has_class ? class_bit(features.at("image/class/label").ints, labels)
                          : label_bits(required("image/label").ints, labels);
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
