#include "pipeline/image_loader.hpp"

#include <fmt/format.h>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/random.hpp"
#include "data/tf_example.hpp"

namespace chexbench::pipeline {

ImageLoader::ImageLoader(Op& op)
    : op_(op),
      decoder_(data::make_decoder(op.context().data.decoder)),
      preprocessor_(data::make_preprocessor(op.context().preprocess.resize, op.context().shape)) {}

ImageLoader::Loaded ImageLoader::load(const Record& record, std::uint32_t epoch, std::byte* destination) {
  OpStats& stats = op_.stats();
  Source source = open(record);
  source.loaded.id.epoch = epoch;

  const double decode_start_s = now_s();
  const data::GrayImage image = decode(source, record);
  const double resize_start_s = now_s();
  const bool flip = op_.context().preprocess.flip && is_flipped(op_.context().seed, source.loaded.id);
  preprocessor_->run(image, flip, destination);
  book_part(stats, stats.decode, "decode", {.begin_s = decode_start_s, .end_s = resize_start_s});
  book_part(stats, stats.resize, "resize", {.begin_s = resize_start_s, .end_s = now_s()});
  stats.images_decoded.add(1);
  return source.loaded;
}

// What is wrong with an image of a shard names the shard as well.
data::GrayImage ImageLoader::decode(const Source& source, const Record& record) {
  const data::Dataset& dataset = op_.context().dataset;
  if (dataset.format != spec::DataFormat::tfrecord) return decoder_->decode(source.encoded, *source.name);
  try {
    return decoder_->decode(source.encoded, *source.name);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}, offset {}: {}", dataset.shards.at(record.file), record.offset, error.what()));
  }
}

ImageLoader::Source ImageLoader::open(const Record& record) {
  const data::Dataset& dataset = op_.context().dataset;
  if (dataset.format == spec::DataFormat::tfrecord) return parse(record);
  const data::ImageEntry& entry = dataset.images.at(record.file);
  Source source{record.bytes, &entry.path, {entry.labels, {.image = record.file, .epoch = 0}}};
  if (source.encoded.empty()) {
    const double start_s = now_s();
    source.encoded = dataset.store->read(entry.path, file_bytes_);
    book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
    op_.stats().bytes_read.add(static_cast<std::int64_t>(source.encoded.size()));
  }
  return source;
}

ImageLoader::Source ImageLoader::parse(const Record& record) {
  const data::Dataset& dataset = op_.context().dataset;
  const std::string& shard = dataset.shards.at(record.file);
  const double start_s = now_s();
  const data::ExampleView example = data::parse_example(record.bytes, {.file = shard, .offset = record.offset});
  const std::optional<std::uint32_t> image = data::find_image(dataset, example.filename);
  if (!image) {
    throw DataError(fmt::format("{}, offset {}: image '{}' is not in the split that the trial reads; convert again",
                                shard, record.offset, example.filename));
  }
  book_part(op_.stats(), op_.stats().parse, "parse", {.begin_s = start_s, .end_s = now_s()});
  return {example.encoded, &dataset.images[*image].name, {example.labels, {.image = *image, .epoch = 0}}};
}

ImageLoader& LoaderSet::of(std::size_t worker) {
  std::unique_ptr<ImageLoader>& loader = loaders_[worker];
  if (!loader) loader = std::make_unique<ImageLoader>(op_);
  return *loader;
}

bool is_flipped(std::uint64_t seed, const ExampleId& id) {
  const std::uint64_t image_seed = derive_seed(derive_seed(derive_seed(seed, fnv1a64("flip")), id.image), id.epoch);
  return RandomStream(image_seed).uniform() < 0.5;
}

}  // namespace chexbench::pipeline
