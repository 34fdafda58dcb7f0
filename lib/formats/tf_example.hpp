// tf.Example, the message inside each record: reading without copies, and writing.
// Keys: image/encoded (the image file's bytes), image/filename, image/label (int64, 0 or 1, as many as
// the data set has labels, in their order), image/format, image/height, image/width, image/channels, patient_id.
// Others are ignored.
// Source: tensorflow/core/example/{example,feature}.proto; protobuf's wire format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/label_bits.hpp"

namespace chexbench::formats {

// Where a record came from, for messages.
struct RecordOrigin {
  std::string_view file = "tf.Example";
  std::uint64_t offset = 0;
};

// Views into the record's bytes: valid as long as those.
struct ExampleView {
  std::span<const std::byte> encoded;
  std::string_view filename;
  std::string_view format;  // "" where absent, as is each value below
  LabelBits labels;
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> channels;
  std::optional<std::int64_t> patient;
};

// Reads one message. encoded, filename and label must be there. Where a key comes twice the last one counts, as in
// protobuf, and the first is not looked into. Thread-safe.
// @throws DataError naming the origin and the reason: damaged message, missing key, a count other than
// `labels`, a label other than 0 or 1
ExampleView parse_example(std::span<const std::byte> record, const RecordOrigin& origin = {},
                          std::size_t labels = kNihLabels);

// The same by building the whole message as a tree first: the plain twin.
ExampleView parse_example_plain(std::span<const std::byte> record, const RecordOrigin& origin = {},
                                std::size_t labels = kNihLabels);

// What goes into a record besides the image file's bytes.
struct ExampleFields {
  std::string_view filename;
  std::string_view format = "png";
  LabelBits labels;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t patient = 0;
  std::size_t label_count = kNihLabels;
};

// Writes the message for `encoded` into `record`, replacing what it held (its memory is reused). Keys in
// alphabetical order, so that equal input gives equal bytes. Thread-safe.
void write_example(const ExampleFields& fields, std::span<const std::byte> encoded, std::vector<std::byte>& record);

}  // namespace chexbench::formats
