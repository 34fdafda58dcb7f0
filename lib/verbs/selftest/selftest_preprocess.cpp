#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/errors.hpp"
#include "dataset/dataset.hpp"
#include "image/decoder.hpp"
#include "image/preprocess.hpp"
#include "spec/golden_data.hpp"
#include "storage/file_bytes.hpp"
#include "verbs/selftest/selftest_data.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kTolerance = 2e-6;
constexpr BatchShape kShape{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};
// The normalization of the first channel (image/preprocess_tables.hpp). It is undone here, because golden values are
// pixel / 255.
constexpr double kMeanRed = 0.485;
constexpr double kStdRed = 0.229;

std::vector<double> resized(const image::DecodedImage& image, spec::ResizeMethod method) {
  std::vector<float> tensor(kShape.bytes() / sizeof(float));
  image::make_preprocessor(method, kShape)->run(image, false, reinterpret_cast<std::byte*>(tensor.data()));
  std::vector<double> values;
  for (std::size_t i = 0; i < tensor.size(); i += 3) values.push_back(tensor[i] * kStdRed + kMeanRed);
  return values;
}

// Returns the largest difference from the golden values: of the sampled pixels, the mean and the standard deviation.
double largest_difference(const std::vector<double>& values, const spec::ResizeGolden& golden) {
  double worst = 0, sum = 0, squares = 0;
  for (const auto& place : golden.places) {
    const double value = values[static_cast<std::size_t>(place.row * kShape.width + place.column)];
    worst = std::max(worst, std::abs(value - place.value));
  }
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(values.size());
  const double mean = sum / count;
  const double deviation = std::sqrt(squares / count - mean * mean);
  return std::max({worst, std::abs(mean - golden.mean), std::abs(deviation - golden.standard_deviation)});
}

}  // namespace

std::string selftest_preprocess(const std::string& golden_path, const std::string& root) {
  const auto golden = spec::load_preprocess_golden(golden_path);
  const dataset::Dataset dataset = dataset::open_dataset({.root = root, .split = spec::Split::all});
  storage::ByteBuffer buffer;
  double worst = 0;
  int images = 0;
  for (const dataset::ImageEntry& entry : dataset.images) {
    const auto expected = golden.find(entry.name);
    if (expected == golden.end()) continue;
    ++images;
    for (const auto kind : {spec::DecoderKind::fast, spec::DecoderKind::opencv}) {
      const auto decoder = image::make_decoder(kind);
      const image::DecodedImage image = decoder->decode(dataset.store->read(entry.path, buffer), entry.path);
      for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
        const auto& values = method == spec::ResizeMethod::area ? expected->second.area : expected->second.bilinear;
        const double difference = largest_difference(resized(image, method), values);
        worst = std::max(worst, difference);
        if (difference <= kTolerance) continue;
        throw ComparisonError(fmt::format("{}: decoder {}, resize {}: differs by {:.2e}, allowed are {:.0e}",
                                          entry.path, spec::to_string(kind), spec::to_string(method), difference,
                                          kTolerance));
      }
    }
  }
  if (images == 0) throw DataError(fmt::format("{}: it has none of the images of {}", root, golden_path));
  return fmt::format("preprocess: {} images by 2 decoders and 2 resizes agree; largest difference {:.1e} of {:.0e}\n",
                     images, worst, kTolerance);
}

}  // namespace chexbench::verbs
