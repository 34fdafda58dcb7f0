#include "verbs/selftest/selftest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/allocator.hpp"
#include "core/errors.hpp"
#include "dataset/dataset.hpp"
#include "formats/tf_example.hpp"
#include "formats/tfrecord.hpp"
#include "image/decoder.hpp"
#include "image/png/png_writer.hpp"
#include "image/preprocess.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/golden.hpp"
#include "spec/pipeline_list.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::verbs {
namespace {

namespace fs = std::filesystem;

// A new folder under the system's temporary folder; the destructor removes it with its contents.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "chexbench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw OutputError(fmt::format("cannot create {}", name));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string record_name(int file, int record) { return fmt::format("{:06}.png", 100 * file + record); }

void write(std::ofstream& file, std::span<const std::byte> bytes) {
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Writes a data set whose shards have the lengths of the case. The name of each image is the number 100 x file +
// record.
dataset::Dataset write_shards(const spec::InterleaveGolden& golden, const fs::path& folder) {
  const std::vector<std::uint8_t> gray(16 * 16, 128);
  image::PngWriter png;
  const auto encoded = png.encode(gray, 16, image::PngStyle::resaved);
  dataset::Dataset dataset{.format = spec::DataFormat::tfrecord, .images = {}, .shards = {}, .total_bytes = 0};
  std::vector<std::byte> record;
  for (int file = 0; file < static_cast<int>(golden.file_lengths.size()); ++file) {
    const fs::path path = folder / fmt::format("all-{:05}-of-{:05}", file, golden.file_lengths.size());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    for (int i = 0; i < golden.file_lengths[static_cast<std::size_t>(file)]; ++i) {
      const std::string name = record_name(file, i);
      formats::write_example({.filename = name, .height = 16, .width = 16, .channels = 1}, encoded, record);
      const formats::TfRecordFrame frame = formats::frame_record(record);
      write(out, frame.header);
      write(out, record);
      write(out, frame.footer);
      dataset.images.push_back({.name = name, .path = path.string()});
    }
    if (!out.flush()) throw OutputError(fmt::format("{}: cannot be written", path.string()));
    dataset.shards.push_back(path.string());
  }
  return dataset;
}

std::vector<int> delivered_order(const spec::InterleaveGolden& golden, const dataset::Dataset& dataset, bool parallel) {
  const spec::PipelineSpec ops = spec::parse_pipeline(
      fmt::format(
          R"([{{"op": "list_files"}}, {{"op": "interleave", "cycle_length": {}, "block_length": {}, "parallel": {}}},
                      {{"op": "map"}}, {{"op": "batch", "drop_remainder": false}}])",
          golden.cycle_length, golden.block_length, parallel),
      "selftest interleave");
  spec::DataSpec tfrecord;
  tfrecord.format = spec::DataFormat::tfrecord;
  const pipeline::PipelineContext context{.dataset = dataset,
                                          .pipeline = ops,
                                          .data = tfrecord,
                                          .preprocess = {},
                                          .shape = {.images = 1, .height = 8, .width = 8, .deliver = Deliver::u8},
                                          .allocator = host_allocator(),
                                          .cores = {}};
  const auto pipeline = pipeline::make_pipeline(context);
  std::vector<int> order;
  while (const BatchLease batch = pipeline->next())
    order.push_back(std::stoi(dataset.images[batch->ids[0].image].name));
  return order;
}

constexpr double kTolerance = 2e-6;
constexpr BatchShape kShape{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};
// The normalization of the first channel (image/preprocess_rows.hpp). It is undone here, because golden values are
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

std::string selftest_interleave(const std::string& golden_path) {
  const auto cases = spec::load_interleave_golden(golden_path);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ScratchFolder scratch;
    const dataset::Dataset dataset = write_shards(cases[i], scratch.path());
    for (const bool parallel : {false, true}) {
      const std::vector<int> order = delivered_order(cases[i], dataset, parallel);
      if (order == cases[i].order) continue;
      throw ComparisonError(fmt::format("{}: case {} ({}): expected {}, got {}", golden_path, i,
                                        parallel ? "parallel" : "plain", fmt::join(cases[i].order, " "),
                                        fmt::join(order, " ")));
    }
  }
  return fmt::format("interleave: {} cases agree, plain and parallel\n", cases.size());
}

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
