#include "formats/tf_example_plain.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/random.hpp"
#include "core/scratch.hpp"
#include "dataset/index.hpp"
#include "formats/tfrecord.hpp"
#include "image/sha256.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Parse = ExampleView (*)(std::span<const std::byte>, const RecordOrigin&, std::size_t);

// Builds a message field by field, like protobuf.
std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
std::string field(int number, const std::string& payload) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(payload.size()) + payload;
}
std::string feature(const std::string& key, int kind, const std::string& list) {
  return field(1, field(1, key) + field(2, field(kind, list)));
}
std::string bytes_feature(const std::string& key, const std::string& value) { return feature(key, 1, field(1, value)); }
std::string labels_feature(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return feature("image/label", 3, field(1, packed));
}
std::string example(const std::string& features) { return field(1, features); }

const std::vector<std::int64_t> kLabels = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
const std::string kImage = bytes_feature("image/encoded", "png") + bytes_feature("image/filename", "a.png");

std::string sha256_of(std::span<const std::byte> bytes) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return image::test::sha256_hex({begin, begin + bytes.size()});
}

class ParseExampleTest : public testing::TestWithParam<Parse> {
 protected:
  static ExampleView parse(std::string_view record, std::size_t labels = kNihLabels) {
    return GetParam()(as_bytes(record), {.file = "train-00003", .offset = 77}, labels);
  }
  static std::string failure_of(const std::string& record) {
    return message_of<DataError>([&] { parse(record); });
  }
};

TEST_P(ParseExampleTest, ReadsWhatTensorFlowWrote) {
  const auto golden = nlohmann::json::parse(std::ifstream(CHEXBENCH_GOLDEN "/sample.json"));
  TfRecordReader reader(storage::MappedFile::open(CHEXBENCH_GOLDEN "/sample.tfrecord"));
  for (const auto& expected : golden["records"]) {
    const auto record = reader.next();
    ASSERT_TRUE(record);
    const ExampleView view = GetParam()(record->data, {}, kNihLabels);
    EXPECT_EQ(view.filename, expected["filename"].get<std::string>());
    EXPECT_EQ(view.encoded.size(), expected["bytes"].get<std::size_t>());
    EXPECT_EQ(sha256_of(view.encoded), expected["sha256"].get<std::string>());
    EXPECT_EQ(view.width, 1024);
    for (unsigned f = 0; f < kNihLabels; ++f) EXPECT_EQ(view.labels.has(f), expected["label"][f].get<int>() == 1) << f;
  }
  EXPECT_FALSE(reader.next());
}

TEST_P(ParseExampleTest, DoesNotCopyTheImage) {
  const std::string record = example(kImage + labels_feature(kLabels));
  const ExampleView view = parse(record);
  EXPECT_EQ(reinterpret_cast<const char*>(view.encoded.data()), record.data() + record.find("png"));
  EXPECT_EQ(view.labels, 1u | 1u << 13);
}

TEST_P(ParseExampleTest, ReadsLabelsThatAreNotPacked) {
  std::string list;
  for (const std::int64_t value : kLabels) list += varint(1 << 3) + varint(static_cast<std::uint64_t>(value));
  EXPECT_EQ(parse(example(kImage + feature("image/label", 3, list))).labels, 1u | 1u << 13);
}

TEST_P(ParseExampleTest, IgnoresKeysAndFieldsItDoesNotKnow) {
  const std::string unknown = feature("extra/score", 2, field(1, std::string(4, '\0'))) + field(9, "x") +
                              varint(10 << 3 | 1) + std::string(8, 'y') + varint(11 << 3 | 5) + std::string(4, 'z');
  EXPECT_EQ(parse(example(kImage + labels_feature(kLabels) + unknown)).filename, "a.png");
}

TEST_P(ParseExampleTest, TakesTheLastOfTwoEqualKeys) {
  EXPECT_EQ(parse(example(kImage + labels_feature(kLabels) + bytes_feature("image/filename", "b.png"))).filename,
            "b.png");
}

// The first of two equal keys may be incomplete, but damage anywhere is refused, as in protobuf.
TEST_P(ParseExampleTest, AsksTheLastOfTwoEqualKeysAlone) {
  const std::string poor = feature("image/encoded", 3, field(1, varint(1))) + labels_feature({2});
  const std::string good = kImage + labels_feature(kLabels);
  EXPECT_EQ(parse(example(poor + good)).filename, "a.png");
  EXPECT_THAT(failure_of(example(good + poor)), HasSubstr("train-00003: record at offset 77"));
  EXPECT_THAT(failure_of(example(feature("image/height", 3, "\x0a\x7f") + good)), HasSubstr("damaged message"));
}

TEST_P(ParseExampleTest, NamesAKeyThatIsNotUtf8) {
  const std::string record = example(kImage + labels_feature(kLabels) + bytes_feature("\xff", "x"));
  EXPECT_THAT(failure_of(record), HasSubstr("is not a tf.Example: a key is not UTF-8"));
}

TEST_P(ParseExampleTest, LeavesAbsentValuesEmpty) {
  const ExampleView view = parse(example(kImage + labels_feature(kLabels)));
  EXPECT_EQ(view.format, "");
  EXPECT_FALSE(view.height || view.width || view.channels || view.patient);
}

TEST_P(ParseExampleTest, RefusesALabelCountOtherThan14) {
  for (const std::size_t count : {0u, 1u, 13u, 15u, 140u}) {
    const std::string record = example(kImage + labels_feature(std::vector<std::int64_t>(count, 1)));
    EXPECT_THAT(failure_of(record), AllOf(HasSubstr("train-00003: record at offset 77"),
                                          HasSubstr(std::to_string(count) + " values, expected 14")));
  }
}

std::string class_feature(const std::vector<std::int64_t>& values) {
  std::string list;
  for (const std::int64_t value : values) list += varint(1 << 3) + varint(static_cast<std::uint64_t>(value));
  return feature("image/class/label", 3, list);
}

TEST_P(ParseExampleTest, TakesTheClassOfImagenetForALabel) {
  const std::string synset = bytes_feature("image/class/synset", "n01440764");
  const std::string record = example(kImage + class_feature({14}) + synset);
  const ExampleView view = parse(record);
  EXPECT_EQ(view.labels, 1u << 13);
  EXPECT_EQ(view.class_name, "n01440764");
  EXPECT_EQ(parse(example(kImage + class_feature({1}))).labels, 1u);
  EXPECT_EQ(parse(example(kImage + class_feature({99}) + labels_feature(kLabels))).labels, 1u | 1u << 13)
      << "image/label goes before it";
}

TEST_P(ParseExampleTest, RefusesAClassThatIsNone) {
  for (const std::int64_t value : {std::int64_t{15}, std::int64_t{-1}}) {
    EXPECT_THAT(failure_of(example(kImage + class_feature({value}))),
                AllOf(HasSubstr("train-00003: record at offset 77"),
                      HasSubstr("image/class/label is " + std::to_string(value) + ", expected a class from 1 to 14")));
  }
  EXPECT_THAT(failure_of(example(kImage + class_feature({0}))), HasSubstr("0 is the background, which no image has"));
  EXPECT_THAT(failure_of(example(kImage + class_feature({}))), HasSubstr("image/class/label has 0 values, expected 1"));
  EXPECT_THAT(failure_of(example(kImage + class_feature({1, 2}))), HasSubstr("has 2 values, expected 1"));
}

TEST_P(ParseExampleTest, RefusesALabelOtherThan0And1) {
  std::vector<std::int64_t> labels = kLabels;
  for (const std::int64_t value : {std::int64_t{2}, std::int64_t{-1}}) {
    labels[5] = value;
    EXPECT_THAT(failure_of(example(kImage + labels_feature(labels))), HasSubstr("image/label[5] is"));
  }
}

TEST_P(ParseExampleTest, NamesAMissingKey) {
  const std::string labels = labels_feature(kLabels);
  EXPECT_THAT(failure_of(example(kImage)), HasSubstr("no image/label"));
  EXPECT_THAT(failure_of(example(bytes_feature("image/encoded", "x") + labels)), HasSubstr("no image/filename"));
  EXPECT_THAT(failure_of(example(bytes_feature("image/filename", "x") + labels)), HasSubstr("no image/encoded"));
  EXPECT_THAT(failure_of(""), HasSubstr("no image/encoded"));
}

TEST_P(ParseExampleTest, RefusesAFeatureOfAnotherKind) {
  const std::string record = example(feature("image/encoded", 3, field(1, varint(1))) + labels_feature(kLabels));
  EXPECT_THAT(failure_of(record), HasSubstr("image/encoded holds no bytes"));
}

TEST_P(ParseExampleTest, RefusesDamage) {
  for (const std::string& record : {std::string("\x0a"), std::string("\x0a\xff\xff\xff\xff\x0f"),
                                    std::string(11, '\xff'), std::string("\x0b"), example("\x0a\x7f")}) {
    EXPECT_THAT(failure_of(record), HasSubstr("damaged message"));
  }
}

TEST_P(ParseExampleTest, ReadsBackWhatWasWritten) {
  std::vector<std::byte> record;
  const std::string image(70000, 'p');
  write_example(
      {.filename = "00000001_000.png", .labels = 0x2aaa, .height = 1024, .width = 768, .channels = 4, .patient = 30805},
      as_bytes(image), record);
  const ExampleView view = GetParam()(record, {}, kNihLabels);
  EXPECT_EQ(view.filename, "00000001_000.png");
  EXPECT_EQ(view.format, "png");
  EXPECT_EQ(view.labels, 0x2aaa);
  EXPECT_EQ(view.height, 1024);
  EXPECT_EQ(view.width, 768);
  EXPECT_EQ(view.channels, 4);
  EXPECT_EQ(view.patient, 30805);
  EXPECT_EQ(view.encoded.size(), image.size());
}

TEST_P(ParseExampleTest, ReadsAsManyLabelsAsTheDataSetHas) {
  constexpr std::size_t kMany = 300;
  LabelBits labels;
  for (const std::size_t label : {0u, 63u, 64u, 130u, 299u}) labels.set(label);
  std::vector<std::byte> record;
  write_example({.filename = "a.png", .labels = labels, .label_count = kMany}, as_bytes("image"), record);
  const std::string_view text(reinterpret_cast<const char*>(record.data()), record.size());
  EXPECT_EQ(parse(text, kMany).labels, labels);
  EXPECT_THAT(message_of<DataError>([&] { parse(text, 14); }), HasSubstr("image/label has 300 values, expected 14"));
}

INSTANTIATE_TEST_SUITE_P(FastAndPlain, ParseExampleTest, testing::Values(&parse_example, &parse_example_plain));

std::string outcome(Parse parse, std::span<const std::byte> record) {
  try {
    const ExampleView view = parse(record, {}, kNihLabels);
    return std::string(view.filename) + "/" + dataset::labels_text(view.labels) + "/" +
           std::to_string(view.encoded.size()) + "/" + std::string(view.format) + "/" +
           std::to_string(view.height.value_or(-1)) + "/" + std::to_string(view.patient.value_or(-1));
  } catch (const DataError&) {
    return "refused";
  }
}

TEST(ParseExampleTwins, AgreeOnMutatedMessages) {
  std::vector<std::byte> original;
  write_example({.filename = "a.png", .labels = 5, .height = 300, .width = 2, .channels = 1, .patient = 9},
                as_bytes("image"), original);
  RandomStream random(3);
  int refused = 0;
  constexpr int kMutants = 20000;
  for (int i = 0; i < kMutants; ++i) {
    std::vector<std::byte> mutant = original;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      mutant[random.below(mutant.size())] = static_cast<std::byte>(random.next());
    }
    if (random.below(4) == 0) mutant.resize(random.below(mutant.size()));
    const std::string fast = outcome(&parse_example, mutant);
    ASSERT_EQ(fast, outcome(&parse_example_plain, mutant)) << "mutant " << i;
    refused += fast == "refused" ? 1 : 0;
  }
  EXPECT_GT(refused, kMutants / 4);
  EXPECT_LT(refused, kMutants);
}

// The parser of tf.Example and its plain twin against protobuf (tests/golden/tf_examples.json).

using nlohmann::json;
using Parse = ExampleView (*)(std::span<const std::byte>, const RecordOrigin&, std::size_t);

constexpr std::size_t kLabelCount = 2;  // of the messages; most contain 1 and 0

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

// chexbench's part of the features that protobuf found, or "refused" if an image lacks something.
std::string expected_of(const json& features) {
  if (features.is_null()) return "refused";
  const auto has = [&](std::string_view key) { return features.contains(to_hex(key)); };
  const auto list = [&](std::string_view key, const char* kind) {
    return has(key) ? features[to_hex(key)].value(kind, json::array()) : json::array();
  };
  const auto first = [&](std::string_view key, const char* kind) {
    const json values = list(key, kind);
    return values.empty() ? json() : values[0];
  };
  const json encoded = first("image/encoded", "bytes"), filename = first("image/filename", "bytes"),
             format = first("image/format", "bytes"), labels = list("image/label", "ints");
  if (encoded.is_null() || filename.is_null() || filename == "" || (has("image/format") && format.is_null())) {
    return "refused";
  }
  const bool are_labels = labels.size() == kLabelCount &&
                          std::ranges::all_of(labels, [](const json& label) { return label == 0 || label == 1; });
  if (!are_labels) return "refused";
  return json{encoded,
              filename,
              format.is_null() ? "" : format,
              labels[0] == 1,
              labels[1] == 1,
              first("image/height", "ints"),
              first("image/width", "ints"),
              first("image/channels", "ints"),
              first("patient_id", "ints")}
      .dump();
}

json number(const std::optional<std::int64_t>& value) { return value ? json(*value) : json(); }

std::string found_by(Parse parse, std::string_view message) {
  try {
    const ExampleView view = parse(as_bytes(message), {}, kLabelCount);
    return json{to_hex(storage::as_text(view.encoded)),
                to_hex(view.filename),
                to_hex(view.format),
                view.labels.has(0),
                view.labels.has(1),
                number(view.height),
                number(view.width),
                number(view.channels),
                number(view.patient)}
        .dump();
  } catch (const DataError&) {
    return "refused";
  }
}

class TfExampleGoldenTest : public testing::TestWithParam<Parse> {};

TEST_P(TfExampleGoldenTest, ReadsWhatProtobufReads) {
  const json golden = json::parse(std::ifstream(CHEXBENCH_GOLDEN "/tf_examples.json"));
  int read = 0, refused = 0;
  for (const json& golden_case : golden["cases"]) {
    const std::string expected = expected_of(golden_case["features"]);
    EXPECT_EQ(found_by(GetParam(), from_hex(golden_case["message"])), expected) << golden_case["name"];
    ++(expected == "refused" ? refused : read);
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 50);
}

INSTANTIATE_TEST_SUITE_P(FastAndPlain, TfExampleGoldenTest, testing::Values(&parse_example, &parse_example_plain),
                         [](const auto& parse) { return parse.param == &parse_example ? "fast" : "plain"; });

}  // namespace
}  // namespace chexbench::formats
