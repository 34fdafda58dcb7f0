#include "spec/golden_engine.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/batch.hpp"
#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;

GradientGolden gradient_golden(const Json& json) {
  GradientGolden golden{
      .shape = json.at("shape"), .l2 = json.at("l2"), .index = json.at("index"), .value = json.at("value")};
  std::size_t count = 1;
  for (const std::int64_t size : golden.shape) count *= static_cast<std::size_t>(size);
  if (golden.index.size() != golden.value.size()) throw DataError("a gradient has as many indices as values");
  for (const std::size_t index : golden.index) {
    if (index >= count) throw DataError(fmt::format("index {} lies outside a gradient of {} entries", index, count));
  }
  return golden;
}

EngineGolden engine_golden(const Json& json) {
  EngineGolden golden{.model = json.at("model"),
                      .salt = json.at("salt"),
                      .image_size = json.at("image_size"),
                      .batch = json.at("batch"),
                      .parameters = json.at("parameters"),
                      .logits = json.at("logits"),
                      .loss = json.at("loss"),
                      .gradients = {},
                      .buffers = {},
                      .losses_adam = json.at("losses_adam"),
                      .losses_sgd = json.at("losses_sgd_momentum")};
  for (const auto& [name, gradient] : json.at("gradients").items()) golden.gradients[name] = gradient_golden(gradient);
  for (const auto& [name, buffer] : json.at("buffers").items()) {
    golden.buffers[name] = {.l2 = buffer.at("l2"), .first = buffer.at("first")};
  }
  if (golden.batch < 1 || golden.logits.size() != static_cast<std::size_t>(golden.batch) * kFindings) {
    throw DataError(fmt::format("{} logits don't fit a batch of {}", golden.logits.size(), golden.batch));
  }
  return golden;
}

}  // namespace

EngineGolden load_engine_golden(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw DataError(fmt::format("{}: cannot be read; give a golden file, e.g. tests/golden/resnet50.json", path));
  try {
    return engine_golden(Json::parse(file));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not a golden file of an engine: {}", path, error.what()));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: not a golden file of an engine: {}", path, error.what()));
  }
}

}  // namespace chexbench::spec
