#include "pipeline/image_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/random.hpp"
#include "formats/cached_file.hpp"
#include "formats/record.hpp"
#include "formats/tfrecord.hpp"
#include "pipeline/record_stream.hpp"

namespace chexbench::pipeline {
namespace {

image::LeastSize least_size(const PipelineContext& context) {
  // A random window may be so small that only the full image has enough pixels for it.
  if (context.preprocess.resized_crop) return {};
  const bool scaled = context.data.jpeg == spec::JpegDecode::scaled && context.data.decoder == spec::DecoderKind::fast;
  if (!scaled) return {};
  // The crop is cut out of the shrunken image, so the whole image must stay larger by the factor 1 / crop.
  const auto whole = [&](int side) { return static_cast<int>(std::ceil(side / context.preprocess.crop)); };
  return {whole(context.shape.width), whole(context.shape.height)};
}

}  // namespace

ImageLoader::ImageLoader(Op& op)
    : op_(op),
      decoder_(
          image::make_decoder(op.context().data.decoder, least_size(op.context()), spec::color_of(op.context().data))),
      preprocessor_(image::make_preprocessor(op.context().preprocess.resize, op.context().shape)) {}

ImageLoader::Loaded ImageLoader::load(const Record& record, std::uint32_t epoch, std::byte* destination) {
  OpStats& stats = op_.stats();
  Source source = open(record);
  source.loaded.id.epoch = epoch;

  const double decode_start_s = now_s();
  const image::DecodedImage image = decode(source, record);
  const double resize_start_s = now_s();
  preprocess(image, source.loaded.id, destination);
  book_part(stats, stats.decode, "decode", {.begin_s = decode_start_s, .end_s = resize_start_s});
  book_part(stats, stats.resize, "resize", {.begin_s = resize_start_s, .end_s = now_s()});
  stats.images_decoded.add(1);
  return source.loaded;
}

void ImageLoader::preprocess(const image::DecodedImage& image, const ExampleId& id, std::byte* destination) {
  const PipelineContext& context = op_.context();
  const double share = context.preprocess.crop;
  if (!context.augments) return preprocessor_->run(middle_window(image, share), false, destination);
  const bool flip = context.preprocess.flip && is_flipped(context.seed, id);
  const image::DecodedImage seen = context.preprocess.resized_crop ? random_resized_window(image, context.seed, id)
                                                                   : random_window(image, share, context.seed, id);
  preprocessor_->run(seen, flip, destination);
}

// Decodes the image. For a record of a shard, an error message also names the shard and the offset.
image::DecodedImage ImageLoader::decode(const Source& source, const Record& record) {
  const dataset::Dataset& dataset = op_.context().dataset;
  if (dataset.cached) {
    const image::PixelSpec pixels = dataset.cached->made_for();
    return {.pixels = reinterpret_cast<const std::uint8_t*>(source.encoded.data()),
            .width = pixels.image_size,
            .height = pixels.image_size,
            .stride = static_cast<std::size_t>(pixels.image_size * pixels.channels()),
            .channels = pixels.channels()};
  }
  if (!spec::reads_shards(dataset.format)) return decoder_->decode(source.encoded, *source.name);
  try {
    return decoder_->decode(source.encoded, *source.name);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}, offset {}: {}", dataset.shards.at(record.file), record.offset, error.what()));
  }
}

std::uint32_t ImageLoader::image_of(Record& record) {
  if (!spec::reads_shards(op_.context().dataset.format)) return record.file;
  check_record(op_, record);
  return parse(record).loaded.id.image;
}

ImageLoader::Source ImageLoader::open(const Record& record) {
  const dataset::Dataset& dataset = op_.context().dataset;
  if (spec::reads_shards(dataset.format)) return parse(record);
  const dataset::ImageEntry& entry = dataset.images.at(record.file);
  Source source{record.bytes, &entry.path, {entry.labels, {.image = record.file, .epoch = 0}}};
  if (source.encoded.empty()) {
    const double start_s = now_s();
    source.encoded = dataset::read_image(dataset, record.file, file_bytes_);
    book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
    op_.stats().bytes_read.add(static_cast<std::int64_t>(source.encoded.size()));
  }
  return source;
}

ImageLoader::Source ImageLoader::parse(const Record& record) {
  const dataset::Dataset& dataset = op_.context().dataset;
  const std::string& shard = dataset.shards.at(record.file);
  const formats::RecordOrigin origin{.file = shard, .offset = record.offset};
  const double start_s = now_s();
  if (record.unchecked_crc) formats::check_data(record.bytes, origin, *record.unchecked_crc);
  const formats::RecordView view = formats::parse_record(dataset.format, record.bytes, origin, dataset.label_names);
  const std::optional<std::uint32_t> image = dataset::find_image(dataset, view.filename);
  if (!image) {
    throw DataError(fmt::format("{}, offset {}: image '{}' is not in the split that the trial reads; convert again",
                                shard, record.offset, printable(view.filename)));
  }
  book_part(op_.stats(), op_.stats().parse, "parse", {.begin_s = start_s, .end_s = now_s()});
  const dataset::ImageEntry& entry = dataset.images[*image];
  const LabelBits& labels = dataset.has_unclear_labels ? entry.labels : view.labels;
  return {view.encoded, &entry.name, {labels, {.image = *image, .epoch = 0}}};
}

ImageLoader& LoaderSet::of(std::size_t worker) {
  std::unique_ptr<ImageLoader>& loader = loaders_[worker];
  if (!loader) loader = std::make_unique<ImageLoader>(op_);
  return *loader;
}

namespace {

RandomStream stream_of(std::string_view what, std::uint64_t seed, const ExampleId& id) {
  return RandomStream(derive_seed(derive_seed(derive_seed(seed, fnv1a64(what)), id.image), id.epoch));
}

int part_of(int side, double share) { return std::clamp(static_cast<int>(std::lround(share * side)), 1, side); }

struct Corner {
  int x = 0;
  int y = 0;
};

struct Size {
  int width = 0;
  int height = 0;
};

image::DecodedImage window(const image::DecodedImage& image, Size size, Corner corner) {
  return {.pixels = image.pixels + static_cast<std::size_t>(corner.y) * image.stride + corner.x * image.channels,
          .width = size.width,
          .height = size.height,
          .stride = image.stride,
          .channels = image.channels};
}

Size size_of(const image::DecodedImage& image, double share) {
  return {part_of(image.width, share), part_of(image.height, share)};
}

// The largest coordinates that the upper left corner of a window can have.
Corner room(const image::DecodedImage& image, double share) {
  return {image.width - part_of(image.width, share), image.height - part_of(image.height, share)};
}

}  // namespace

bool is_flipped(std::uint64_t seed, const ExampleId& id) { return stream_of("flip", seed, id).uniform() < 0.5; }

image::DecodedImage random_window(const image::DecodedImage& image, double share, std::uint64_t seed,
                                  const ExampleId& id) {
  RandomStream random = stream_of("crop", seed, id);
  const Corner most = room(image, share);
  const auto drawn = [&random](int last) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(last) + 1));
  };
  const int x = drawn(most.x);
  return window(image, size_of(image, share), {x, drawn(most.y)});
}

image::DecodedImage random_resized_window(const image::DecodedImage& image, std::uint64_t seed, const ExampleId& id) {
  constexpr double kLeastArea = 0.08, kNarrowest = 3.0 / 4.0, kWidest = 4.0 / 3.0;
  constexpr int kDraws = 10;
  RandomStream random = stream_of("resized_crop", seed, id);
  const auto drawn = [&random](int last) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(last) + 1));
  };
  const double area = static_cast<double>(image.width) * image.height;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double part = area * (kLeastArea + (1 - kLeastArea) * random.uniform());
    const double shape = std::exp(std::log(kNarrowest) + (std::log(kWidest) - std::log(kNarrowest)) * random.uniform());
    const Size size{static_cast<int>(std::lround(std::sqrt(part * shape))),
                    static_cast<int>(std::lround(std::sqrt(part / shape)))};
    if (size.width < 1 || size.height < 1 || size.width > image.width || size.height > image.height) continue;
    const int y = drawn(image.height - size.height);
    return window(image, size, {drawn(image.width - size.width), y});
  }
  const double shape = std::clamp(static_cast<double>(image.width) / image.height, kNarrowest, kWidest);
  const Size size{std::min(image.width, static_cast<int>(std::lround(image.height * shape))),
                  std::min(image.height, static_cast<int>(std::lround(image.width / shape)))};
  return window(image, size, {(image.width - size.width) / 2, (image.height - size.height) / 2});
}

image::DecodedImage middle_window(const image::DecodedImage& image, double share) {
  const Corner most = room(image, share);
  return window(image, size_of(image, share), {most.x / 2, most.y / 2});
}

}  // namespace chexbench::pipeline
