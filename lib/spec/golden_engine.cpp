#include "spec/golden_engine.hpp"

#include "core/batch.hpp"
#include "spec/golden_file.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;

// More entries than any network's largest parameter has, and few enough for any machine's memory.
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
