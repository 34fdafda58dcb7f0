#include "dataset/make/convert.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <system_error>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/printable.hpp"
#include "core/random.hpp"
#include "dataset/dataset.hpp"
#include "dataset/make/progress.hpp"
#include "formats/record.hpp"
#include "formats/shards.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/png/png_file.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using Images = std::vector<const ImageEntry*>;

constexpr std::uint64_t kOrderSeed = 14;  // any constant will do; a change would change the order of all records
constexpr std::uint64_t kShardBytes = 256u << 20;

// Returns the images of each shard, in the order of their records.
std::vector<Images> deal_out(const Dataset& dataset, std::size_t shards) {
  Images order;
  for (const ImageEntry& image : dataset.images) order.push_back(&image);
  RandomStream random(kOrderSeed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<Images> plan(shards);
  for (std::size_t i = 0; i < order.size(); ++i) plan[i % shards].push_back(order[i]);
  return plan;
}

int choose_shards(const ConvertOptions& options, const Dataset& dataset) {
  if (options.shards != 0 && options.shards < kMinShards) {
    throw SpecError(
        fmt::format("--shards {}: it must be at least {}, so that ranks and interleave have enough files to share",
                    options.shards, kMinShards));
  }
  const std::optional<int> present = formats::present_shard_count(options.root, options.split, options.format);
  const auto images = static_cast<int>(dataset.images.size());
  const auto by_size = static_cast<int>((dataset.total_bytes + kShardBytes - 1) / kShardBytes);
  const int wanted = std::min(options.shards != 0 ? options.shards : std::max(kMinShards, by_size), images);
  if (!present) return wanted;
  if (options.shards == 0 && *present <= images) return *present;
  if (*present != wanted) {
    throw OutputError(
        fmt::format("{} already holds {} shards of split '{}', but {} are needed: remove them, or use --shards {}",
                    formats::format_folder(options.root, options.format), *present, spec::to_string(options.split),
                    wanted, *present));
  }
  return wanted;
}

bool record_matches(const formats::RecordView& record, const ImageEntry& image, const struct stat& shard) {
  struct stat file {};
  if (::stat(image.path.c_str(), &file) != 0) return false;
  const bool newer = file.st_mtim.tv_sec != shard.st_mtim.tv_sec ? file.st_mtim.tv_sec > shard.st_mtim.tv_sec
                                                                 : file.st_mtim.tv_nsec > shard.st_mtim.tv_nsec;
  return !newer && record.filename == image.name && record.labels == image.labels.present() &&
         record.patient == std::int64_t{image.patient} &&
         (image::is_dicom_name(image.path) || record.encoded.size() == static_cast<std::uint64_t>(file.st_size));
}

// Returns whether the shard at `path` exists and contains exactly these images, undamaged.
bool is_finished(const std::string& path, spec::DataFormat format, const Images& images,
                 const std::vector<std::string>& label_names) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  try {
    const auto reader = formats::open_shard(format, storage::stream_mapped(storage::MappedFile::open(path)));
    for (const ImageEntry* const image : images) {
      const std::optional<formats::ShardRecord> record = reader->next();
      if (!record || !record_matches(formats::parse_record(format, record->data, {}, label_names), *image, status))
        return false;
    }
    return !reader->next();
  } catch (const DataError&) {
    return false;  // it is damaged and will be rewritten
  }
}

// An image's name is in its sample's JSON. In tf.Example it is bytes.
// @throws DataError naming the first image whose name JSON cannot store
void check_names(const ConvertOptions& options, const Dataset& dataset) {
  if (options.format != spec::DataFormat::webdataset) return;
  const auto bad = std::ranges::find_if(dataset.images, [](const ImageEntry& image) { return !is_utf8(image.name); });
  if (bad == dataset.images.end()) return;
  throw DataError(
      fmt::format("{}: WebDataset cannot hold a name that is not UTF-8: rename the file, or use --to tfrecord",
                  printable(bad->path)));
}

// Returns the samples per pixel that a PNG of this colour type stores. A palette index counts as one.
int stored_channels(int color_type) {
  switch (color_type) {
    case 2:
      return 3;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 1;
  }
}

// A record's data about its image.
struct Described {
  std::string_view format = "unknown";
  int height = 0;
  int width = 0;
  int channels = 0;
};

// A thread's buffers, reused from record to record.
struct RecordBuffers {
  storage::ByteBuffer image;
  DicomToPng dicom;
  image::PngFile png;
  std::unique_ptr<formats::RecordWriter> writer;
};

class Converter {
 public:
  Converter(const ConvertOptions& options, const Dataset& dataset)
      : options_(options),
        store_(*dataset.store),
        plan_(deal_out(dataset, static_cast<std::size_t>(choose_shards(options, dataset)))),
        progress_("converting", "images", dataset.images.size()),
        conversion_(begin_conversion(options, dataset)) {
    conversion_.shards.resize(plan_.size());
    conversion_.label_names = dataset.label_names;
  }

  std::size_t shards() const { return plan_.size(); }

  formats::Conversion run() {
    std::vector<RecordBuffers> buffers(worker_count(plan_.size(), options_.threads));
    for (RecordBuffers& of_worker : buffers) of_worker.writer = formats::make_record_writer(options_.format);
    parallel_for(plan_.size(), options_.threads,
                 [&](std::size_t worker, std::size_t shard) { make_shard(shard, buffers[worker]); });
    for (const formats::ShardFile& shard : conversion_.shards) conversion_.shard_bytes += shard.bytes;
    std::sort(conversion_.damaged.begin(), conversion_.damaged.end());
    return std::move(conversion_);
  }

 private:
  void make_shard(std::size_t shard, RecordBuffers& buffers) {
    const std::string path = formats::shard_path(options_.root, options_.split, static_cast<int>(shard),
                                                 static_cast<int>(plan_.size()), options_.format);
    formats::ShardFile& result = conversion_.shards[shard];
    result.name = fs::path(path).filename();
    result.records = plan_[shard].size();
    result.kept = is_finished(path, options_.format, plan_[shard], conversion_.label_names);
    if (result.kept) {
      progress_.add(plan_[shard].size());
    } else {
      write_shard(path, plan_[shard], buffers);
    }
    result.bytes = fs::file_size(path);
  }

  void write_shard(const std::string& path, const Images& images, RecordBuffers& buffers) {
    OutputFile file(path);
    for (const ImageEntry* const image : images) {
      write_record(*image, buffers, file);
      progress_.add();
      throw_if_interrupted();
    }
    buffers.writer->finish(file);
    file.commit(OutputFile::Durability::synced);
  }

  void write_record(const ImageEntry& image, RecordBuffers& buffers, OutputFile& file) {
    const std::span<const std::byte> file_bytes = read_image_file(store_, image.path, buffers.image);
    const bool is_dicom = image::is_dicom(file_bytes);
    const std::span<const std::byte> encoded =
        is_dicom ? pixels_of_dicom(image, file_bytes, buffers.dicom) : file_bytes;
    const Described described = is_dicom && encoded.empty() ? Described{} : describe(image, encoded, buffers.png);
    buffers.writer->write({.filename = image.name,
                           .format = described.format,
                           .labels = image.labels,
                           .height = described.height,
                           .width = described.width,
                           .channels = described.channels,
                           .patient = image.patient,
                           .label_count = conversion_.label_names.size()},
                          encoded, file);
  }

  // Returns the pixels of a DICOM file, as a PNG: its header may name the patient, and shards are shared. Nothing of a
  // damaged file is kept, and readers of its record find it damaged, too.
  std::span<const std::byte> pixels_of_dicom(const ImageEntry& image, std::span<const std::byte> file_bytes,
                                             DicomToPng& dicom) {
    try {
      return dicom.run(file_bytes, image.path);
    } catch (const DataError& error) {
      log::warning("{}; its record holds no image, because the file's header may name the patient", error.what());
      note_damaged(image);
      return {};
    }
  }

  void note_damaged(const ImageEntry& image) {
    const std::scoped_lock lock(damaged_mutex_);
    conversion_.damaged.push_back(image.name);
  }

  // A damaged file goes into its record unchanged, because the shards must contain the same images as the files.
  Described describe(const ImageEntry& image, std::span<const std::byte> encoded, image::PngFile& png) {
    try {
      if (image::is_jpeg(encoded)) {
        const image::JpegFile jpeg = image::parse_jpeg(encoded, image.path);
        return {"jpeg", jpeg.height, jpeg.width, jpeg.components};
      }
      image::parse_png(encoded, image.path, png);
      return {"png", png.height, png.width, stored_channels(png.color_type)};
    } catch (const DataError& error) {
      log::warning("{}; it is stored unchanged", error.what());
      note_damaged(image);
      return {.format = image::is_jpeg(encoded) ? "jpeg" : image::is_png(encoded) ? "png" : "unknown"};
    }
  }

  const ConvertOptions& options_;
  const storage::Store& store_;
  const std::vector<Images> plan_;
  Progress progress_;
  formats::Conversion conversion_;
  std::mutex damaged_mutex_;
};

formats::Conversion convert_to_shards(const ConvertOptions& options, const Dataset& dataset) {
  check_names(options, dataset);
  Converter converter(options, dataset);
  if (options.format == spec::DataFormat::webdataset) {
    const std::string unfinished = formats::unfinished_path(options.root, options.split, options.format);
    write_file_atomically(unfinished, fmt::to_string(converter.shards()));
  }
  return converter.run();
}

}  // namespace

formats::Conversion begin_conversion(const ConvertOptions& options, const Dataset& dataset) {
  std::set<std::uint32_t> patients;
  for (const ImageEntry& image : dataset.images) patients.insert(image.patient);
  return {.split = options.split,
          .format = options.format,
          .images = dataset.images.size(),
          .patients = dataset.has_patients ? std::optional<std::uint64_t>(patients.size()) : std::nullopt,
          .image_bytes = dataset.total_bytes};
}

formats::Conversion convert_data_set(const ConvertOptions& options) {
  const double start_s = now_s();
  storage::check_is_folder(options.root, "data convert");
  spec::DataSpec files{.root = options.root, .split = options.split};
  files.layout = options.layout;
  files.labels = options.labels;
  const Dataset dataset = open_dataset(files);
  const std::string folder = formats::format_folder(options.root, options.format);
  make_folder(folder);
  const FolderLock lock(folder);
  remove_abandoned_files(folder, spec::to_string(options.split) + "-");
  formats::Conversion conversion = options.format == spec::DataFormat::cached ? convert_to_cached(options, dataset)
                                                                              : convert_to_shards(options, dataset);
  conversion.seconds = now_s() - start_s;
  write_file_atomically(formats::manifest_path(options.root, options.split, options.format),
                        formats::manifest_json(conversion));
  const std::string unfinished = formats::unfinished_path(options.root, options.split, options.format);
  std::error_code ignored;
  if (fs::remove(unfinished, ignored)) sync_folder_of(unfinished);  // otherwise it could reappear after a power loss
  return conversion;
}

std::span<const std::byte> DicomToPng::run(std::span<const std::byte> dicom, const std::string& name) {
  if (!decoder_) decoder_ = image::make_decoder(spec::DecoderKind::fast);
  const image::DecodedImage image = decoder_->decode(dicom, name);
  pixels_.clear();
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    pixels_.insert(pixels_.end(), row, row + image.width);
  }
  return writer_.encode(pixels_, image.width, image.height, image::PngStyle::published);
}

}  // namespace chexbench::dataset
