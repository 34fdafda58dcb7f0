// The parser of tf.Example and its plain twin against protobuf (tests/golden/tf_examples.json).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "formats/tf_example_plain.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

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
