#include "spec/golden.hpp"

#include <fmt/format.h>

#include "core/batch.hpp"
#include "spec/document.hpp"

namespace chexbench::spec {

std::string read_golden_file(const std::string& path, const std::string& example) {
  try {
    return read_text_file(path, "golden file");
  } catch (const SpecError& error) {
    throw DataError(fmt::format("{}; give a golden file, e.g. tests/golden/{}", error.what(), example));
  }
}

std::int64_t golden_integer(const nlohmann::json& json, const std::string& name, IntegerRange range) {
  // The type is checked before the cast: the library reads a number beyond 64 bits as floating-point.
  const bool is_whole = json.is_number_integer() && (!json.is_number_unsigned() || json <= INT64_MAX);
  const std::int64_t value = is_whole ? json.get<std::int64_t>() : 0;
  if (is_whole && value >= range.least && value <= range.most) return value;
  throw DataError(fmt::format("{} must be a whole number from {} to {}", name, range.least, range.most));
}

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

namespace {

// More entries than in any network's largest parameter, but few enough for any machine's memory.
constexpr IntegerRange kEntries{.least = 1, .most = 1 << 26};
constexpr IntegerRange kImageSize{.least = 32, .most = 1024};
constexpr IntegerRange kBatch{.least = 1, .most = 256};
constexpr IntegerRange kParameters{.least = 1, .most = 1 << 30};
constexpr std::size_t kLosses = 2;  // steps that the selftest takes

std::size_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (count > kEntries.most / size) throw DataError(fmt::format("shape has more than {} entries", kEntries.most));
    count *= size;
  }
  return static_cast<std::size_t>(count);
}

GradientGolden gradient_golden(const Json& json) {
  GradientGolden golden{.shape = golden_integers<std::int64_t>(json.at("shape"), "shape", kEntries),
                        .l2 = json.at("l2"),
                        .index = {},
                        .value = json.at("value")};
  const IntegerRange places{.least = 0, .most = static_cast<std::int64_t>(count_of(golden.shape)) - 1};
  golden.index = golden_integers<std::size_t>(json.at("index"), "index", places);
  if (golden.index.size() != golden.value.size()) throw DataError("a gradient has as many indices as values");
  return golden;
}

std::vector<double> losses(const Json& json, const std::string& key) {
  std::vector<double> values = json.at(key);
  if (values.size() < kLosses) throw DataError(fmt::format("{} must hold {} losses or more", key, kLosses));
  return values;
}

EngineGolden engine_golden(const Json& json) {
  EngineGolden golden{.model = json.at("model"),
                      .salt = json.at("salt"),
                      .image_size = static_cast<int>(golden_integer(json.at("image_size"), "image_size", kImageSize)),
                      .batch = static_cast<int>(golden_integer(json.at("batch"), "batch", kBatch)),
                      .parameters = golden_integer(json.at("parameters"), "parameters", kParameters),
                      .logits = json.at("logits"),
                      .loss = json.at("loss"),
                      .gradients = {},
                      .buffers = {},
                      .losses_adam = losses(json, "losses_adam"),
                      .losses_sgd = losses(json, "losses_sgd_momentum")};
  for (const auto& [name, gradient] : json.at("gradients").items()) golden.gradients[name] = gradient_golden(gradient);
  for (const auto& [name, buffer] : json.at("buffers").items()) {
    golden.buffers[name] = {.l2 = buffer.at("l2"), .first = buffer.at("first")};
  }
  if (golden.logits.size() != static_cast<std::size_t>(golden.batch) * kNihLabels) {
    throw DataError(fmt::format("{} logits don't fit a batch of {}", golden.logits.size(), golden.batch));
  }
  return golden;
}

}  // namespace

EngineGolden load_engine_golden(const std::string& path) { return load_golden(path, "resnet50.json", engine_golden); }

}  // namespace chexbench::spec
