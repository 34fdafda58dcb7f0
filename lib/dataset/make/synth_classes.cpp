#include "dataset/make/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "dataset/make/progress.hpp"
#include "formats/record.hpp"
#include "image/jpeg/jpeg_turbo.hpp"
#include "storage/url.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

constexpr int kQuality = 90;
constexpr int kValidationShare = 10;   // one image in this many is for validation
constexpr int kImagesPerShard = 1250;  // as in ImageNet's 1024 shards
constexpr int kAngles = 8;             // of stripes; further classes differ in width
constexpr double kNoise = 24, kContrast = 70;

void check_options(const SynthClassesOptions& options) {
  const auto check = [](const char* option, int value, int least, int most) {
    if (value >= least && value <= most) return;
    throw SpecError(fmt::format("{} {}: it must be from {} to {}", option, value, least, most));
  };
  check("--classes", options.classes, 2, 10'000);
  check("--images", options.images, options.classes, 100'000'000);
  check("--size", options.size, 32, 8192);
}

void claim_directory(const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && (!fs::is_directory(directory, error) || !fs::is_empty(directory, error)))
    throw OutputError(fmt::format("{} already exists and is not an empty folder: choose another one", directory));
  make_folder(directory);
}

struct Picture {
  std::vector<std::uint8_t> rgb;
  int width = 0, height = 0;
};

// Draws stripes whose angle and width identify the class, at a random place, in random colours, under noise.
void draw(int class_index, int size, RandomStream random, Picture& picture) {
  picture.width = size;
  picture.height = size * 3 / 4;
  picture.rgb.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  const double angle = std::numbers::pi * (class_index % kAngles) / kAngles;
  const int width = class_index / kAngles;
  const double waves = 3 * std::pow(1.35, width % 8) * (1 + 0.04 * std::floor(width / 8.0));
  const double step = 2 * std::numbers::pi * waves / size, phase = 2 * std::numbers::pi * random.uniform();
  const double tint[] = {0.6 + 0.4 * random.uniform(), 0.6 + 0.4 * random.uniform(), 0.6 + 0.4 * random.uniform()};
  const double dx = std::cos(angle) * step, dy = std::sin(angle) * step;
  auto* to = picture.rgb.data();
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const double wave = 128 + kContrast * std::sin(phase + dx * x + dy * y) + kNoise * (2 * random.uniform() - 1);
      for (const double part : tint) *to++ = static_cast<std::uint8_t>(std::clamp(wave * part, 0.0, 255.0));
    }
  }
}

// One shard: the images number first, first + step, ... of the set.
struct ShardPlan {
  std::string path;
  bool validates = false;
  std::vector<int> images;
};

std::vector<ShardPlan> plan_shards(const SynthClassesOptions& options) {
  std::vector<int> parts[2];
  // A tenth of each class is for validation, regardless of the number of classes.
  for (int image = 0; image < options.images; ++image)
    parts[image / options.classes % kValidationShare == kValidationShare - 1 ? 1 : 0].push_back(image);
  std::vector<ShardPlan> plan;
  for (const bool validates : {false, true}) {
    const std::vector<int>& images = parts[validates ? 1 : 0];
    if (images.empty()) continue;
    const auto count = static_cast<int>((images.size() + kImagesPerShard - 1) / kImagesPerShard);
    for (int shard = 0; shard < count; ++shard) {
      ShardPlan& one = plan.emplace_back();
      const char* const split = validates ? "validation" : "train";
      one.path = fs::path(options.directory) / fmt::format("{}-{:05}-of-{:05}", split, shard, count);
      one.validates = validates;
      for (std::size_t i = static_cast<std::size_t>(shard); i < images.size(); i += static_cast<std::size_t>(count))
        one.images.push_back(images[i]);
    }
  }
  return plan;
}

void write_shard(const ShardPlan& shard, const SynthClassesOptions& options, Progress& progress) {
  const auto writer = formats::make_record_writer(spec::DataFormat::tfrecord);
  OutputFile file(shard.path);
  Picture picture;
  for (const int image : shard.images) {
    const int class_index = image % options.classes;
    draw(class_index, options.size, RandomStream(derive_seed(options.seed, static_cast<std::uint64_t>(image))),
         picture);
    const std::string synset = fmt::format("n{:08}", class_index + 1);
    const std::string name =
        shard.validates ? fmt::format("made_up_val_{:08}.JPEG", image) : fmt::format("{}_{}.JPEG", synset, image);
    writer->write({.filename = name,
                   .format = "JPEG",
                   .labels = {},
                   .height = picture.height,
                   .width = picture.width,
                   .channels = 3,
                   .class_label = class_index + 1,
                   .class_name = synset},
                  image::encode_jpeg(picture.rgb, picture.width, picture.height, kQuality), file);
    progress.add();
  }
  writer->finish(file);
  file.commit(OutputFile::Durability::synced);
}

}  // namespace

SynthResult write_synthetic_classes(const SynthClassesOptions& options) {
  check_options(options);
  storage::check_is_folder(options.directory, "data synth");
  const double start_s = now_s();
  claim_directory(options.directory);
  const std::vector<ShardPlan> plan = plan_shards(options);
  {
    Progress progress("drawing", "images", static_cast<std::size_t>(options.images));
    parallel_for(plan.size(), options.threads,
                 [&](std::size_t, std::size_t shard) { write_shard(plan[shard], options, progress); });
  }
  const auto images = static_cast<std::uint64_t>(options.images);
  SynthResult result{.images = images, .written = images};
  result.kind = fmt::format("synthetic color images of {} classes", options.classes);
  result.form = fmt::format("JPEGs of {} x {} pixels in {} shards like ImageNet's", options.size, options.size * 3 / 4,
                            plan.size());
  for (const ShardPlan& shard : plan) result.bytes += fs::file_size(shard.path);
  result.seconds = now_s() - start_s;
  return result;
}

}  // namespace chexbench::dataset
