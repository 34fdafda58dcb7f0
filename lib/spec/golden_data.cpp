#include "spec/golden_data.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;

// Reads `path` and converts it with `convert`; what either finds wrong is an error that names the file.
template <typename Convert>
auto load(const std::string& path, Convert convert) {
  std::ifstream file(path);
  if (!file)
    throw DataError(fmt::format("{}: cannot be read; give a golden file, e.g. tests/golden/preprocess.json", path));
  try {
    return convert(Json::parse(file));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not a golden file of this kind: {}", path, error.what()));
  }
}

ResizeGolden resize_golden(const Json& json) {
  ResizeGolden golden{.mean = json.at("mean"), .standard_deviation = json.at("std"), .places = {}};
  const Json& where = json.at("row_col");
  for (std::size_t i = 0; i < where.size(); ++i) {
    golden.places.push_back({.row = where[i].at(0), .column = where[i].at(1), .value = json.at("value").at(i)});
  }
  return golden;
}

}  // namespace

std::map<std::string, ImageGolden> load_preprocess_golden(const std::string& path) {
  return load(path, [](const Json& json) {
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
  return load(path, [](const Json& json) {
    std::vector<InterleaveGolden> cases;
    for (const Json& one : json.at("cases")) {
      cases.push_back({.file_lengths = one.at("file_lengths"),
                       .cycle_length = one.at("cycle_length"),
                       .block_length = one.at("block_length"),
                       .order = one.at("order")});
    }
    return cases;
  });
}

}  // namespace chexbench::spec
