#include "dataset/make/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "dataset/make/progress.hpp"
#include "image/png/png_file.hpp"
#include "image/png/png_writer.hpp"
#include "storage/file_bytes.hpp"
#include "storage/url.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;  // of the images and rows; increase it whenever either changes

constexpr std::string_view kMarker = "synthetic.txt";

std::string marker_path(const SynthOptions& options) { return fs::path(options.directory) / kMarker; }

std::string marker_text(const SynthOptions& options) {
  return fmt::format(
      "Synthetic chest X-rays made by chexbench; no patient's data.\nversion: {}\nimages: {}\nsize: {}\nseed: {}\n",
      kVersion, options.images, options.size, options.seed);
}

[[noreturn]] void refuse(const SynthOptions& options) {
  throw OutputError(
      fmt::format("{} already exists and is not a synthetic set: choose another folder", options.directory));
}

void check_options(const SynthOptions& options) {
  if (options.images < 1) throw SpecError(fmt::format("--images {}: it must be at least 1", options.images));
  if (options.size < 32 || options.size > 8192)
    throw SpecError(fmt::format("--size {}: it must be from 32 to 8192", options.size));
}

// Makes the directory, unless something else has its name. @throws OutputError
void make_directory(const SynthOptions& options) {
  std::error_code error;
  if (fs::exists(options.directory, error) && !fs::is_directory(options.directory, error)) refuse(options);
  make_folder(options.directory);
}

// Marks the directory as a synthetic set. A set with the same options is continued; another data set must never be
// overwritten. @throws OutputError if the directory contains anything else
void claim_directory(const SynthOptions& options) {
  std::error_code error;
  if (fs::exists(marker_path(options), error)) {
    storage::ByteBuffer buffer;
    const std::span<const std::byte> bytes = storage::read_file(marker_path(options), buffer);
    if (storage::as_text(bytes) == marker_text(options)) return remove_abandoned_files(options.directory);
    throw OutputError(
        fmt::format("{} already holds a synthetic set with other options (see {}): choose another folder, or "
                    "remove it",
                    options.directory, marker_path(options)));
  }
  // A process that was killed while writing the marker left nothing else.
  remove_abandoned_files(options.directory, kMarker);
  if (!fs::is_empty(options.directory, error)) refuse(options);
  write_file_atomically(marker_path(options), marker_text(options));
}

// The mix of files in copies of the published set: most files are as NIH wrote them, a fifth as if saved again by
// another program, and a few have four channels.
image::PngStyle style_of(std::size_t image) {
  if (image % 200 == 40) return image::PngStyle::rgba;
  return image % 5 == 3 ? image::PngStyle::resaved : image::PngStyle::published;
}

// A thread's buffers, reused from image to image.
struct RenderBuffers {
  std::vector<std::uint8_t> pixels;
  image::PngWriter writer;
  storage::ByteBuffer file;
  image::PngFile png;
};

// Returns whether the image is complete. A crash of the machine can leave an image with its name but not its bytes,
// because images are not synced one by one.
bool is_whole(const std::string& path, RenderBuffers& buffers) {
  if (!fs::exists(path)) return false;
  try {
    image::parse_png(storage::read_file(path, buffers.file), path, buffers.png);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

void write_image(const SynthImage& image, image::PngStyle style, const SynthOptions& options, const std::string& path,
                 RenderBuffers& buffers) {
  render_chest({.patient_seed = image.patient_seed, .image_seed = image.image_seed, .labels = image.labels},
               options.size, buffers.pixels);
  OutputFile file(path);
  file.write(buffers.writer.encode(buffers.pixels, options.size, style));
  // All images are synced at once, later: waiting for the disk 512 times would double the time.
  file.commit(OutputFile::Durability::renamed);
}

void write_tables(const std::vector<SynthImage>& plan, const SynthOptions& options) {
  std::string train, test;
  std::string table =
      "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
      "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\n";
  for (const SynthImage& image : plan) {
    (image.test ? test : train) += image.name + "\n";
    fmt::format_to(std::back_inserter(table), "{},{},{},{},{},{},{},{},{},0.143,0.143,\n", image.name,
                   labels_text(image.labels), image.follow_up, image.patient, image.age_years, image.sex,
                   image.frontal_pa ? "PA" : "AP", options.size, options.size);
  }
  const fs::path directory(options.directory);
  write_file_atomically(directory / "train_val_list.txt", train);
  write_file_atomically(directory / "test_list.txt", test);
  write_file_atomically(directory / "Data_Entry_2017.csv", table);
}

}  // namespace

SynthResult write_synthetic_set(const SynthOptions& options) {
  check_options(options);
  storage::check_is_folder(options.directory, "data synth");
  const double start_s = now_s();
  make_directory(options);
  const FolderLock lock(options.directory);
  claim_directory(options);
  const fs::path images = fs::path(options.directory) / "images";
  make_folder(images);
  remove_abandoned_files(images);
  const std::vector<SynthImage> plan = plan_synthetic_set(options.images, options.seed);
  std::vector<RenderBuffers> buffers(worker_count(plan.size(), options.threads));
  std::vector<std::uint64_t> bytes(plan.size());
  std::vector<char> written(plan.size());
  {
    Progress progress("drawing", "images", plan.size());
    parallel_for(plan.size(), options.threads, [&](std::size_t worker, std::size_t i) {
      const std::string path = images / plan[i].name;
      written[i] = !is_whole(path, buffers[worker]);
      if (written[i]) write_image(plan[i], style_of(i), options, path, buffers[worker]);
      bytes[i] = fs::file_size(path);
      progress.add();
    });
  }
  sync_file_system(options.directory);  // the tables must not name images that a crash of the machine could still lose
  write_tables(plan, options);
  SynthResult result{.images = plan.size(), .patients = plan.back().patient};
  result.kind = fmt::format("synthetic chest X-ray{} of {} patient{}", plan.size() == 1 ? "" : "s", *result.patients,
                            *result.patients == 1 ? "" : "s");
  result.form = fmt::format("PNGs of {0} x {0} pixels", options.size);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    result.bytes += bytes[i];
    result.written += written[i] ? 1 : 0;
  }
  result.seconds = now_s() - start_s;
  return result;
}

namespace {

// Counts over the 112,120 published rows, in the order of kNihLabelNames.
constexpr double kRows = 112120;
constexpr std::array<double, kNihLabels> kRowsWithLabel = {11559, 2776, 13317, 19894, 5782, 6331, 1431,
                                                           5302,  4667, 2303,  2516,  1686, 3385, 227};
constexpr double kRowsWithAnyLabel = 112120 - 60361;
// The share of patients with at most 1, 2, ... 10 images. Those with more are spread evenly over 11..kMostImages.
constexpr std::array<double, 10> kPatientsUpTo = {0.568, 0.702, 0.770, 0.813, 0.843, 0.869, 0.889, 0.905, 0.917, 0.928};
constexpr int kMostImages = 34;
// The published test list has 25,596 rows, but only 2,797 of the 30,805 patients, because those have many images. Here
// patients are drawn for it independently of their images, so the share of rows is used.
constexpr double kTestShare = 25596.0 / kRows;
constexpr double kShareMale = 63340.0 / kRows;
constexpr double kSharePa = 67310.0 / kRows;

// Returns the chance q of each finding in a draw that is repeated until there is at least one finding, such that the
// published frequencies result: q = p (1 - prod(1 - q)), in which p is the finding's share of the rows with findings.
// The iteration contracts, so it converges.
std::array<double, kNihLabels> label_chances() {
  std::array<double, kNihLabels> chances;
  for (std::size_t f = 0; f < kNihLabels; ++f) chances[f] = kRowsWithLabel[f] / kRowsWithAnyLabel;
  for (int round = 0; round < 200; ++round) {
    double none = 1;
    for (const double chance : chances) none *= 1 - chance;
    for (std::size_t f = 0; f < kNihLabels; ++f) chances[f] = kRowsWithLabel[f] / kRowsWithAnyLabel * (1 - none);
  }
  return chances;
}

LabelBits draw_labels(const std::array<double, kNihLabels>& chances, RandomStream& random) {
  if (random.uniform() >= kRowsWithAnyLabel / kRows) return 0;
  unsigned labels = 0;
  while (labels == 0) {
    for (unsigned f = 0; f < kNihLabels; ++f) labels |= (random.uniform() < chances[f] ? 1u : 0u) << f;
  }
  return labels;
}

int draw_image_count(RandomStream& random) {
  const double u = random.uniform();
  for (std::size_t i = 0; i < kPatientsUpTo.size(); ++i) {
    if (u < kPatientsUpTo[i]) return static_cast<int>(i) + 1;
  }
  return 11 + static_cast<int>(random.below(kMostImages - 10));
}

}  // namespace

std::vector<SynthImage> plan_synthetic_set(int images, std::uint64_t seed) {
  static const std::array<double, kNihLabels> chances = label_chances();
  std::vector<SynthImage> plan;
  for (std::uint32_t patient = 1; static_cast<int>(plan.size()) < images; ++patient) {
    SynthImage row;
    row.patient = patient;
    row.patient_seed = derive_seed(seed, patient);
    RandomStream random(row.patient_seed);
    const int count = std::min(draw_image_count(random), images - static_cast<int>(plan.size()));
    row.age_years = 20 + static_cast<int>(random.below(30) + random.below(30));
    row.sex = random.uniform() < kShareMale ? 'M' : 'F';
    // The first patient is in training and the second in test, so that small sets have both lists, too.
    row.test = patient == 2 || (patient > 2 && random.uniform() < kTestShare);
    for (row.follow_up = 0; row.follow_up < count; ++row.follow_up) {
      row.name = fmt::format("{:08}_{:03}.png", patient, row.follow_up);
      row.image_seed = derive_seed(row.patient_seed, static_cast<std::uint64_t>(row.follow_up) + 1);
      row.labels = draw_labels(chances, random);
      row.frontal_pa = random.uniform() < kSharePa;
      plan.push_back(row);
    }
  }
  return plan;
}

}  // namespace chexbench::dataset
