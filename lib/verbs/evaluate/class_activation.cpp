#include "verbs/evaluate/class_activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "image/png/png_writer.hpp"
#include "model/networks.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::verbs {
namespace {

// Where a pixel of the resized side lies between two of the original one.
struct Between {
  int first = 0, second = 0;
  float share = 0;  // of the second
};

Between between(int pixel, int size, int original) {
  const float place = std::max(
      0.0f, (static_cast<float>(pixel) + 0.5f) * static_cast<float>(original) / static_cast<float>(size) - 0.5f);
  const int first = std::min(static_cast<int>(place), original - 1);
  return {first, std::min(first + 1, original - 1), place - static_cast<float>(first)};
}

std::vector<std::uint8_t> gray_of(const std::vector<float>& map) {
  const auto [least, greatest] = std::ranges::minmax(map);
  const float range = greatest > least ? greatest - least : 1;
  std::vector<std::uint8_t> gray;
  for (const float value : map) gray.push_back(static_cast<std::uint8_t>(std::lround((value - least) / range * 255)));
  return gray;
}

// Returns the text as part of a file's name.
std::string in_name(const std::string& text) {
  std::string name = text;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '_';
  }
  return name;
}

}  // namespace

std::vector<float> class_activation(const engine::FeatureMaps& features, std::span<const float> weights, int size) {
  const auto pixels = static_cast<std::size_t>(features.height) * static_cast<std::size_t>(features.width);
  std::vector<float> sum(pixels);
  for (std::size_t channel = 0; channel < weights.size(); ++channel) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      sum[pixel] += weights[channel] * features.values[channel * pixels + pixel];
  }
  const auto at = [&](int y, int x) { return sum[static_cast<std::size_t>(y * features.width + x)]; };
  std::vector<float> map;
  for (int y = 0; y < size; ++y) {
    const Between rows = between(y, size, features.height);
    for (int x = 0; x < size; ++x) {
      const Between columns = between(x, size, features.width);
      const auto in_row = [&](int row) {
        return at(row, columns.first) * (1 - columns.share) + at(row, columns.second) * columns.share;
      };
      map.push_back(in_row(rows.first) * (1 - rows.share) + in_row(rows.second) * rows.share);
    }
  }
  return map;
}

std::vector<float> head_weights(const EvaluatedNetwork& network) {
  const spec::ModelSpec& spec = network.spec.model;
  const model::Graph graph = model::make_network(spec.name, spec.image_size, network.outputs);
  const auto averages = [](const model::Layer& layer) { return layer.kind == model::LayerKind::global_average_pool; };
  const auto pool = std::ranges::find_if(graph.layers, averages);
  if (pool == graph.layers.end()) {
    throw SpecError(
        fmt::format("--cam: {} averages no maps before its last layer, so it has no class activation maps", spec.name));
  }
  std::vector<float> weights(static_cast<std::size_t>(network.outputs) * static_cast<std::size_t>(pool->channels));
  network.weights.read(graph.layers.back().name + ".weight", {network.outputs, pool->channels}, weights);
  return weights;
}

void write_activation_maps(const EvaluationResult& result, const std::string& folder) {
  image::PngWriter writer;
  std::size_t written = 0;
  for (const ScoreRow& row : result.rows) {
    const std::string image = in_name(std::filesystem::path(row.file).filename().string());
    for (std::size_t label = 0; label < row.activations.size(); ++label) {
      const auto png = writer.encode(gray_of(row.activations[label]), result.image_size, image::PngStyle::published);
      const std::string name = fmt::format("{}.{}.png", image, in_name(result.labels[label]));
      write_file_atomically((std::filesystem::path(folder) / name).string(), storage::as_text(png));
      ++written;
    }
  }
  log::info("wrote {} class activation maps into {}", written, folder);
}

}  // namespace chexbench::verbs
