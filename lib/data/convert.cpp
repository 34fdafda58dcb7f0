#include "data/convert.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <set>

#include "core/atomic_file.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/random.hpp"
#include "data/dataset.hpp"
#include "data/output_file.hpp"
#include "data/parallel.hpp"
#include "data/png_file.hpp"
#include "data/progress.hpp"
#include "data/shards.hpp"
#include "data/store/url.hpp"
#include "data/tf_example.hpp"
#include "data/tfrecord.hpp"

namespace chexbench::data {
namespace {

namespace fs = std::filesystem;
using Images = std::vector<const ImageEntry*>;

constexpr std::uint64_t kOrderSeed = 14;  // any constant: the order of records must never change
constexpr std::uint64_t kShardBytes = 256u << 20;

// Which images go into which shard, in the order of their records.
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
    throw SpecError(fmt::format("--shards {}: at least {}, so that ranks and interleave have enough files to share",
                                options.shards, kMinShards));
  }
  const std::optional<int> present = present_shard_count(options.root, options.split);
  const auto images = static_cast<int>(dataset.images.size());
  const auto by_size = static_cast<int>((dataset.total_bytes + kShardBytes - 1) / kShardBytes);
  const int wanted = std::min(options.shards != 0 ? options.shards : std::max(kMinShards, by_size), images);
  if (!present) return wanted;
  if (options.shards == 0 && *present <= images) return *present;
  if (*present != wanted) {
    throw OutputError(
        fmt::format("{} holds {} shards of split '{}' already, {} are wanted: remove them, or use --shards {}",
                    tfrecord_folder(options.root), *present, spec::to_string(options.split), wanted, *present));
  }
  return wanted;
}

bool record_matches(const TfRecord& record, const ImageEntry& image, const struct stat& shard) {
  struct stat file {};
  if (::stat(image.path.c_str(), &file) != 0) return false;
  const ExampleView example = parse_example(record.data);
  const bool newer = file.st_mtim.tv_sec != shard.st_mtim.tv_sec ? file.st_mtim.tv_sec > shard.st_mtim.tv_sec
                                                                 : file.st_mtim.tv_nsec > shard.st_mtim.tv_nsec;
  return !newer && example.filename == image.name && example.labels == image.labels &&
         example.patient == std::int64_t{image.patient} &&
         example.encoded.size() == static_cast<std::uint64_t>(file.st_size);
}

// Whether the shard at `path` is there and holds what it should, undamaged to the last byte.
bool is_finished(const std::string& path, const Images& images) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  try {
    TfRecordReader reader(MappedFile::open(path));
    for (const ImageEntry* const image : images) {
      const std::optional<TfRecord> record = reader.next();
      if (!record || !record_matches(*record, *image, status)) return false;
    }
    return !reader.next();
  } catch (const DataError&) {
    return false;  // damaged: written anew
  }
}

// Samples a pixel of a PNG colour type as stored: a palette index counts as one.
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

// What one worker reuses from record to record.
struct Buffers {
  ByteBuffer image;
  PngFile png;
  std::vector<std::byte> record;
};

class Converter {
 public:
  Converter(const ConvertOptions& options, const Dataset& dataset)
      : options_(options),
        plan_(deal_out(dataset, static_cast<std::size_t>(choose_shards(options, dataset)))),
        progress_("converting", "images", dataset.images.size()) {
    conversion_.split = options.split;
    conversion_.shards.resize(plan_.size());
    conversion_.images = dataset.images.size();
    conversion_.image_bytes = dataset.total_bytes;
    std::set<std::uint32_t> patients;
    for (const ImageEntry& image : dataset.images) patients.insert(image.patient);
    conversion_.patients = patients.size();
  }

  Conversion run() {
    std::vector<Buffers> buffers(worker_count(plan_.size(), options_.threads));
    parallel_for(plan_.size(), options_.threads,
                 [&](std::size_t worker, std::size_t shard) { make_shard(shard, buffers[worker]); });
    for (const ShardFile& shard : conversion_.shards) conversion_.shard_bytes += shard.bytes;
    std::sort(conversion_.damaged.begin(), conversion_.damaged.end());
    return std::move(conversion_);
  }

 private:
  void make_shard(std::size_t shard, Buffers& buffers) {
    const std::string path =
        shard_path(options_.root, options_.split, static_cast<int>(shard), static_cast<int>(plan_.size()));
    ShardFile& result = conversion_.shards[shard];
    result.name = fs::path(path).filename();
    result.records = plan_[shard].size();
    result.kept = is_finished(path, plan_[shard]);
    if (result.kept) {
      progress_.add(plan_[shard].size());
    } else {
      write_shard(path, plan_[shard], buffers);
    }
    result.bytes = fs::file_size(path);
  }

  void write_shard(const std::string& path, const Images& images, Buffers& buffers) {
    OutputFile file(path);
    for (const ImageEntry* const image : images) {
      make_record(*image, buffers);
      const TfRecordFrame frame = frame_record(buffers.record);
      file.write(frame.header);
      file.write(buffers.record);
      file.write(frame.footer);
      progress_.add();
      throw_if_interrupted();
    }
    file.commit(OutputFile::Durability::synced);
  }

  void make_record(const ImageEntry& image, Buffers& buffers) {
    const std::span<const std::byte> encoded = read_file(image.path, buffers.image);
    const bool whole = parse(image, encoded, buffers.png);
    write_example({.filename = image.name,
                   .format = is_png(encoded) ? "png" : "unknown",
                   .labels = image.labels,
                   .height = whole ? buffers.png.height : 0,
                   .width = whole ? buffers.png.width : 0,
                   .channels = whole ? stored_channels(buffers.png.color_type) : 0,
                   .patient = image.patient},
                  encoded, buffers.record);
  }

  // A damaged file goes into its record as it is: left out, it would make the two formats differ.
  bool parse(const ImageEntry& image, std::span<const std::byte> encoded, PngFile& png) {
    try {
      parse_png(encoded, image.path, png);
      return true;
    } catch (const DataError& error) {
      log::warning("{}; stored as it is", error.what());
      const std::scoped_lock lock(damaged_mutex_);
      conversion_.damaged.push_back(image.name);
      return false;
    }
  }

  const ConvertOptions& options_;
  const std::vector<Images> plan_;
  Progress progress_;
  Conversion conversion_;
  std::mutex damaged_mutex_;
};

}  // namespace

Conversion convert_to_tfrecord(const ConvertOptions& options) {
  const double start_s = now_s();
  check_is_folder(options.root, "data convert");
  const Dataset dataset = open_dataset({.root = options.root, .format = spec::DataFormat::png, .split = options.split});
  make_folder(tfrecord_folder(options.root));
  remove_abandoned_files(tfrecord_folder(options.root), spec::to_string(options.split) + "-");
  Conversion conversion = Converter(options, dataset).run();
  conversion.seconds = now_s() - start_s;
  write_file_atomically(manifest_path(options.root, options.split), manifest_json(conversion));
  return conversion;
}

}  // namespace chexbench::data
