// Reads tf.Example, the message inside each TFRecord, without copies, and writes it.
// The keys are image/encoded (the image file's bytes), image/filename, image/label (int64, 0 or 1, one for each label
// of the data set, in their order), image/format, image/height, image/width, image/channels and patient_id.
// TensorFlow's shards of ImageNet have image/class/label (int64, from 1 to the number of classes) in place of
// image/label. Other keys are ignored. Source: tensorflow/core/example/{example,feature}.proto; protobuf's wire format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "formats/shards.hpp"

namespace chexbench::formats {

// The contents of a message. Its spans and texts are views into the record's bytes and are valid as long as those.
// Optional values are std::nullopt if the message lacks them.
struct ExampleView {
  std::span<const std::byte> encoded;  // the bytes of the image file
  std::string_view filename;
  std::string_view format;  // "" if the message lacks it
  LabelBits labels;
  std::string_view class_name;  // image/class/synset; "" if the message lacks it
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> channels;
  std::optional<std::int64_t> patient;
};

// Parses one message, which must have encoded, filename and label (or, without that, class/label). It accepts and
// refuses the same messages as protobuf's C++ parser (tests/golden/tf_examples.json), because a difference between two
// readers can be exploited: of two equal keys the last one counts, and damage counts wherever it is. Thread-safe.
// @throws DataError naming the origin and the reason if the message is damaged, lacks one of these keys, has another
// number of labels than `labels`, has a label other than 0 and 1, or a class other than 1 to `labels`
ExampleView parse_example(std::span<const std::byte> record, const RecordOrigin& origin = {},
                          std::size_t labels = kNihLabels);

// Returns the error of an image/class/label of a data set of `classes` classes. The plain parser of the tests uses
// it, too.
std::string wrong_class(std::int64_t number, std::size_t classes);

// A record's contents besides the image file's bytes.
struct ExampleFields {
  std::string_view filename;
  std::string_view format = "png";
  LabelBits labels;
  std::int64_t height = 0;  // in pixels, 0 if unknown; so is the width
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t patient = 0;
  std::size_t label_count = kNihLabels;          // how many labels the data set has
  std::optional<std::int64_t> class_label = {};  // from 1, as in TensorFlow's ImageNet, in place of `labels`
  std::string_view class_name = {};              // with a class_label
};

// Writes the message for `encoded` into `record`, replacing its contents and reusing its memory. The keys are in
// alphabetical order, so that equal input gives equal bytes. Thread-safe.
void write_example(const ExampleFields& fields, std::span<const std::byte> encoded, std::vector<std::byte>& record);

}  // namespace chexbench::formats
