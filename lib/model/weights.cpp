#include "model/weights.hpp"

#include <cmath>
#include <numbers>

#include "core/random.hpp"

namespace chexbench::model {
namespace {

bool is_running(const TensorInfo& info) { return info.name.find(".running_") != std::string::npos; }
bool is_bias(const TensorInfo& info) { return info.name.ends_with(".bias"); }

void fill(std::span<float> values, float value) {
  for (float& element : values) element = value;
}

// Running statistics begin with the same values in every source.
void fill_running(const TensorInfo& info, std::span<float> values) {
  fill(values, info.name.ends_with(".running_var") ? 1.0f : 0.0f);
}

double fan_in(const TensorInfo& info) {
  return static_cast<double>(info.count()) / static_cast<double>(info.shape.front());
}

double fan_out(const TensorInfo& info) {
  return static_cast<double>(info.count()) / static_cast<double>(info.shape[1]);
}

// Draws from N(0, deviation^2) by the Box-Muller transform, which turns a pair of uniform numbers into two values; both
// are used.
void fill_normal(RandomStream& stream, double deviation, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius = deviation * std::sqrt(-2.0 * std::log(1.0 - stream.uniform()));
    const double angle = 2.0 * std::numbers::pi * stream.uniform();
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

void fill_uniform(RandomStream& stream, double bound, std::span<float> values) {
  for (float& value : values) value = static_cast<float>((2.0 * stream.uniform() - 1.0) * bound);
}

void fill_drawn(RandomStream& stream, Draw draw, const TensorInfo& info, std::span<float> values) {
  switch (draw) {
    case Draw::he_fan_in:
      return fill_normal(stream, std::sqrt(2.0 / fan_in(info)), values);
    case Draw::he_fan_out:
      return fill_normal(stream, std::sqrt(2.0 / fan_out(info)), values);
    case Draw::uniform_fan_in:
      return fill_uniform(stream, 1.0 / std::sqrt(fan_in(info)), values);
    case Draw::narrow:
      return fill_normal(stream, 0.01, values);
  }
}

void fill_random(std::uint64_t seed, WeightDraws draws, const TensorInfo& info, std::span<float> values) {
  if (is_running(info)) return fill_running(info, values);
  RandomStream stream(derive_seed(seed, fnv1a64(info.name)));
  if (info.shape.size() == 4) return fill_drawn(stream, draws.convolution, info, values);
  if (info.shape.size() == 2) return fill_drawn(stream, draws.linear, info, values);
  fill(values, is_bias(info) ? 0.0f : 1.0f);
}

void fill_formula(const std::string& salt, const TensorInfo& info, std::span<float> values) {
  if (is_running(info)) return fill_running(info, values);
  RandomStream stream(fnv1a64(salt + info.name));
  const double scale = info.shape.size() > 1 ? std::sqrt(6.0 / fan_in(info)) : 0.1;
  const double offset = info.shape.size() > 1 || is_bias(info) ? 0.0 : 1.0;
  for (float& value : values) value = static_cast<float>(offset + scale * (2.0 * stream.uniform() - 1.0));
}

}  // namespace

WeightSource random_weights(std::uint64_t seed, WeightDraws draws) {
  return [=](const TensorInfo& info, std::span<float> values) { fill_random(seed, draws, info, values); };
}

WeightSource formula_weights(const std::string& salt) {
  return [salt](const TensorInfo& info, std::span<float> values) { fill_formula(salt, info, values); };
}

void fill_formula_signed(const std::string& salt, std::string_view name, std::span<float> values) {
  RandomStream stream(fnv1a64(salt + std::string(name)));
  fill_uniform(stream, 1.0, values);
}

void fill_formula_labels(const std::string& salt, std::string_view name, std::span<float> values) {
  RandomStream stream(fnv1a64(salt + std::string(name)));
  for (float& value : values) value = stream.uniform() < 0.3 ? 1.0f : 0.0f;
}

}  // namespace chexbench::model
