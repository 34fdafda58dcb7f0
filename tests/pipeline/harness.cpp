#include "pipeline/harness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <tuple>

#include "core/random.hpp"
#include "dataset/make/convert.hpp"
#include "formats/tfrecord.hpp"
#include "image/decoder.hpp"
#include "image/png/png_writer.hpp"
#include "image/preprocess.hpp"
#include "pipeline/ops.hpp"
#include "spec/pipeline_list.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::pipeline::test {
namespace fs = std::filesystem;

TempFolder::TempFolder() {
  // The name does not use the process id, which a killed test may have had too.
  path_ = testing::TempDir() + "chexbench-pipeline-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder: " + path_);
}

TempFolder::~TempFolder() { fs::remove_all(path_); }

namespace {

// Pipelines do the same to small files, in a fraction of the time.
constexpr int kSmallSide = 64;
constexpr std::string_view kRgba = "00000004_000.png";

// Copies the shipped X-rays to `root` with their sides shortened to kSmallSide pixels. The files are encoded as the
// shipped ones are.
void copy_small_xrays(const fs::path& root) {
  fs::copy(CHEXBENCH_TEST_DATA, root, fs::copy_options::recursive);
  const auto decoder = image::make_decoder(spec::DecoderKind::fast);
  image::PngWriter writer;
  storage::ByteBuffer buffer;
  bool published = false;
  for (const auto& entry : fs::directory_iterator(root / "images")) {
    const image::DecodedImage whole = decoder->decode(storage::read_file(entry.path().string(), buffer), entry.path());
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < kSmallSide; ++y) {
      for (int x = 0; x < kSmallSide; ++x) {
        const int row = y * whole.height / kSmallSide, column = x * whole.width / kSmallSide;
        pixels.push_back(whole.pixels[static_cast<std::size_t>(row) * whole.stride + static_cast<std::size_t>(column)]);
      }
    }
    published = !published;
    const image::PngStyle style = entry.path().filename() == kRgba ? image::PngStyle::rgba
                                  : published                      ? image::PngStyle::published
                                                                   : image::PngStyle::resaved;
    const auto file = writer.encode(pixels, kSmallSide, style);
    std::ofstream(entry.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
}

dataset::Dataset open(const std::string& root, spec::DataFormat format) {
  const image::PixelSpec pixels{.image_size = Setting().size};
  if (format != spec::DataFormat::images) {
    dataset::convert_data_set({.root = root,
                               .split = spec::Split::all,
                               .format = format,
                               .pixels = pixels,
                               .shards = spec::reads_shards(format) ? 16 : 0,
                               .threads = 2});
  }
  return dataset::open_dataset({.root = root, .format = format, .split = spec::Split::all}, pixels);
}

}  // namespace

dataset::Dataset copy_xrays(const TempFolder& folder, spec::DataFormat format) {
  static const TempFolder small;
  static const bool made = (copy_small_xrays(small.path()), true);
  static_cast<void>(made);
  const std::string root = folder.path() + "/nih";
  fs::copy(small.path(), root, fs::copy_options::recursive);
  return open(root, format);
}

dataset::Dataset converted(const TempFolder& folder, spec::DataFormat format) {
  return open(folder.path() + "/nih", format);
}

const dataset::Dataset& xrays(spec::DataFormat format) {
  static const TempFolder folder;
  static std::map<spec::DataFormat, dataset::Dataset> sets = [] {
    std::map<spec::DataFormat, dataset::Dataset> first;
    first.emplace(spec::DataFormat::images, copy_xrays(folder, spec::DataFormat::images));
    return first;
  }();
  if (!sets.contains(format)) sets.emplace(format, converted(folder, format));
  return sets.at(format);
}

dataset::Dataset files(std::size_t count) {
  dataset::Dataset dataset;
  dataset.images.resize(count);
  return dataset;
}

void write_shard(const std::string& path, const std::vector<std::string>& payloads) {
  std::ofstream file(path, std::ios::binary);
  const auto write = [&file](std::span<const std::byte> bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  for (const std::string& payload : payloads) {
    const auto bytes = std::as_bytes(std::span(payload));
    const formats::TfRecordFrame frame = formats::frame_record(bytes);
    write(frame.header);
    write(bytes);
    write(frame.footer);
  }
}

spec::OpSpec op(const std::string& name, const Parameters& parameters) {
  spec::OpSpec result = spec::default_op(name);
  for (const auto& [key, value] : parameters) result.parameters.at(key) = value;
  return result;
}

spec::PipelineSpec list(std::vector<spec::OpSpec> ops) { return {.name = "test", .ops = std::move(ops)}; }

std::string test_name(std::string preset) {
  std::ranges::replace(preset, '-', '_');
  return preset;
}

spec::PipelineSpec finite_preset(const std::string& name, int epochs) {
  spec::PipelineSpec pipeline = spec::preset(name);
  set(pipeline, "repeat", "epochs", std::int64_t{epochs});
  return pipeline;
}

void set(spec::PipelineSpec& pipeline, const std::string& name, const std::string& parameter,
         spec::ParameterValue value) {
  for (spec::OpSpec& one : pipeline.ops) {
    if (one.op == name) one.parameters.at(parameter) = value;
  }
}

namespace {

Deliver delivered(const Setting& setting) {
  spec::DataSpec data;
  data.deliver = setting.deliver;
  data.color = setting.color;
  return spec::delivered(data);
}

}  // namespace

PipelineContext context_of(const dataset::Dataset& dataset, const spec::PipelineSpec& pipeline,
                           const Setting& setting) {
  // Lists core 0 several times, so that there are as many workers as the test needs on any machine.
  return {.dataset = dataset,
          .pipeline = pipeline,
          .data = {.root = "/data/nih",  // for messages
                   .format = dataset.format,
                   .split = spec::Split::all,
                   .deliver = setting.deliver,
                   .on_bad_record = setting.on_bad_record,
                   .color = setting.color},
          .preprocess = {.flip = setting.flip},
          .shape = {.images = setting.batch,
                    .height = setting.size,
                    .width = setting.size,
                    .deliver = delivered(setting),
                    .labels = dataset.labels()},
          .allocator = host_allocator(),
          .rank = setting.rank,
          .world = setting.world,
          .seed = setting.seed,
          .cores = std::vector<int>(setting.threads, 0)};
}

namespace {

std::uint64_t hash_of(std::span<const std::byte> image, std::span<const float> labels) {
  const std::uint64_t pixels = fnv1a64({reinterpret_cast<const char*>(image.data()), image.size()});
  const auto label_bytes = std::as_bytes(labels);
  return derive_seed(pixels, fnv1a64({reinterpret_cast<const char*>(label_bytes.data()), label_bytes.size()}));
}

}  // namespace

std::vector<Delivered> images_of(const Batch& batch) {
  std::vector<Delivered> images;
  const auto label_count = static_cast<std::size_t>(batch.shape.labels);
  for (int slot = 0; slot < batch.valid; ++slot) {
    const std::span<const std::byte> image(batch.images + static_cast<std::size_t>(slot) * batch.shape.image_bytes(),
                                           batch.shape.image_bytes());
    const auto labels =
        std::span<const float>(batch.labels).subspan(static_cast<std::size_t>(slot) * label_count, label_count);
    images.push_back({batch.ids[static_cast<std::size_t>(slot)], hash_of(image, labels)});
  }
  return images;
}

std::vector<Delivered> drain(Pipeline& pipeline, std::optional<std::size_t> most) {
  std::vector<Delivered> images;
  for (std::size_t batches = 0; !most || batches < *most; ++batches) {
    const BatchLease batch = pipeline.next();
    if (!batch) break;
    std::ranges::move(images_of(*batch), std::back_inserter(images));
  }
  return images;
}

std::vector<Delivered> run(const dataset::Dataset& dataset, const spec::PipelineSpec& pipeline, const Setting& setting,
                           std::optional<std::size_t> most) {
  const auto running = make_pipeline(context_of(dataset, pipeline, setting));
  return drain(*running, most);
}

std::vector<Delivered> reference(const Setting& setting, std::uint32_t epoch) {
  std::vector<Delivered> images = reference(xrays(spec::DataFormat::images), setting);
  for (Delivered& image : images) image.id.epoch = epoch;
  return images;
}

std::vector<Delivered> reference(const dataset::Dataset& dataset, const Setting& setting) {
  const BatchShape shape{.images = 1, .height = setting.size, .width = setting.size, .deliver = delivered(setting)};
  const auto decoder = image::make_decoder(spec::DecoderKind::fast, {}, setting.color);
  const auto preprocessor = image::make_preprocessor(spec::ResizeMethod::bilinear, shape);
  storage::ByteBuffer buffer;
  std::byte* tensor = host_allocator().allocate(shape.bytes());
  std::vector<Delivered> images;
  for (std::uint32_t i = 0; i < dataset.images.size(); ++i) {
    const dataset::ImageEntry& entry = dataset.images[i];
    preprocessor->run(decoder->decode(storage::read_file(entry.path, buffer), entry.path), false, tensor);
    std::vector<float> labels(dataset.label_names.size());
    for (std::size_t f = 0; f < labels.size(); ++f) labels[f] = entry.labels.has(f) ? 1.0f : 0.0f;
    images.push_back({{.image = i}, hash_of({tensor, shape.bytes()}, labels)});
  }
  host_allocator().deallocate(tensor, shape.bytes());
  return images;
}

std::vector<ExampleId> ids(const std::vector<Delivered>& images) {
  std::vector<ExampleId> result;
  for (const Delivered& image : images) result.push_back(image.id);
  return result;
}

std::vector<std::uint32_t> order(const std::vector<Delivered>& images) {
  std::vector<std::uint32_t> result;
  for (const Delivered& image : images) result.push_back(image.id.image);
  return result;
}

std::vector<Delivered> sorted(std::vector<Delivered> images) {
  std::ranges::sort(images, {}, [](const Delivered& d) { return std::tuple(d.id.epoch, d.id.image); });
  return images;
}

Chain::Chain(const dataset::Dataset& dataset, std::vector<spec::OpSpec> ops, const Setting& setting)
    : spec_(list(std::move(ops))), resources_(context_of(dataset, spec_, setting)) {
  ops_ = build_chain(resources_);
  resources_.batches = BatchPool::create(resources_.context.shape, batches_in_use(ops_), host_allocator());
}

Chain::~Chain() = default;

std::size_t thread_count() {
  // ThreadSanitizer starts its own thread when the program starts its first one, and keeps it.
  std::jthread([] {}).join();
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

}  // namespace chexbench::pipeline::test
