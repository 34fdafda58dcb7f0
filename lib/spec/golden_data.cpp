#include "spec/golden_data.hpp"

#include <fmt/format.h>

#include "spec/golden_file.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;

constexpr IntegerRange kPixel{.least = 0, .most = 223};
// An element of the order is 100 x file + record; write_shards() of the selftest writes it with six digits.
constexpr IntegerRange kFileLength{.least = 0, .most = 100};
constexpr IntegerRange kElement{.least = 0, .most = 999'999};
constexpr IntegerRange kCycle{.least = 1, .most = 10'000};
constexpr std::size_t kMostFiles = 1000;

ResizeGolden resize_golden(const Json& json) {
  ResizeGolden golden{.mean = json.at("mean"), .standard_deviation = json.at("std"), .places = {}};
  const Json& where = json.at("row_col");
  for (std::size_t i = 0; i < where.size(); ++i) {
    const std::vector<int> place = golden_integers<int>(where[i], "row_col", kPixel);
    if (place.size() != 2) throw DataError("row_col must be a list of pairs");
    golden.places.push_back({.row = place[0], .column = place[1], .value = json.at("value").at(i)});
  }
  return golden;
}

InterleaveGolden interleave_golden(const Json& json) {
  InterleaveGolden golden{
      .file_lengths = golden_integers<int>(json.at("file_lengths"), "file_lengths", kFileLength),
      .cycle_length = static_cast<int>(golden_integer(json.at("cycle_length"), "cycle_length", kCycle)),
      .block_length = static_cast<int>(golden_integer(json.at("block_length"), "block_length", kCycle)),
      .order = golden_integers<int>(json.at("order"), "order", kElement)};
  if (golden.file_lengths.size() > kMostFiles) {
    throw DataError(
        fmt::format("file_lengths has {} files, at most {} are accepted", golden.file_lengths.size(), kMostFiles));
  }
  return golden;
}

}  // namespace

std::map<std::string, ImageGolden> load_preprocess_golden(const std::string& path) {
  return load_golden(path, "preprocess.json", [](const Json& json) {
    std::map<std::string, ImageGolden> images;
    for (const auto& [name, image] : json.at("images").items()) {
      images[name] = {.gray_sha256 = image.at("gray_sha256"),
                      .bilinear = resize_golden(image.at("bilinear")),
                      .area = resize_golden(image.at("area"))};
    }
    return images;
  });
}

std::vector<InterleaveGolden> load_interleave_golden(const std::string& path) {
  return load_golden(path, "interleave.json", [](const Json& json) {
    std::vector<InterleaveGolden> cases;
    for (const Json& one : json.at("cases")) {
      cases.push_back(interleave_golden(one));
    }
    return cases;
  });
}

}  // namespace chexbench::spec
