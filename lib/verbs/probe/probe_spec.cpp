#include "verbs/probe/probe_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/passed_over.hpp"
#include "spec/interval.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {
namespace {

constexpr int kFirstWarmup = 1;
constexpr int kFirstSteps = 3;
constexpr int kUsualRepeats = 15;  // the length of a repeat lets this many fit into the time
constexpr int kMostRepeats = 100;
constexpr double kLongestSteps_s = 3;
constexpr int kFewestProbeSteps = 6;  // warm-up steps among them
constexpr int kMostProbeSteps = 4000;
constexpr double kUsedShare = 0.85;  // of the time: repeats vary
// A rate within 2 % is precise enough for the number of accelerators that it feeds.
constexpr double kRelativeError = 0.02;

// Returns the base trial of all ways: the recommended pipeline without an engine. Its second shuffle has a small
// buffer, which refills in each repeat and does not affect the rate.
spec::TrialSpec base_trial(const dataset::IndexReport& index, const spec::DataSpec& data) {
  constexpr std::int64_t kShuffledRecords = 64;
  spec::TrialSpec trial;
  trial.name = probe_name(data.root);
  trial.data = data;
  trial.data.layout = index.layout;
  trial.data.split = spec::Split::all;
  trial.data.on_bad_record = spec::OnBadRecord::skip;  // the answer counts them
  trial.pipeline = spec::preset("best");
  trial.pipeline.name = "probe";
  for (spec::OpSpec& op : trial.pipeline.ops) {
    if (op.rule().shuffles && !op.holds_text("buffer")) op.parameters["buffer"] = kShuffledRecords;
  }
  trial.engine = "none";
  trial.measure = first_look_measure();
  return trial;
}

// Returns the readable shards of a format: those of all images if they exist, else the first.
const dataset::ShardCount* usable_shards(const dataset::IndexReport& index, spec::DataFormat format) {
  const dataset::ShardCount* found = nullptr;
  for (const dataset::ShardCount& shards : index.shards) {
    if (shards.format != format || !shards.problem.empty()) continue;
    if (found == nullptr || shards.split == spec::Split::all) found = &shards;
  }
  return found;
}

[[noreturn]] void refuse(const dataset::IndexReport& index) {
  if (!index.dicom_file.empty()) {
    throw DataError(fmt::format("'{}' holds no PNGs and no JPEGs; {} is a DICOM file, {}", index.root,
                                printable(index.dicom_file), dataset::dicom_advice()));
  }
  throw DataError(
      fmt::format("'{}' has a table of {} images, and none of their files is there: add the image files; "
                  "`chexbench data index {}` lists what is missing",
                  index.root, index.rows, shell_word(index.root)));
}

}  // namespace

std::vector<WayToRead> ways_to_read(const dataset::IndexReport& index, const spec::DataSpec& data) {
  spec::TrialSpec trial = base_trial(index, data);
  std::vector<const dataset::ShardCount*> shards;
  for (const auto format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
    if (const auto* const usable = usable_shards(index, format)) shards.push_back(usable);
  }
  if (!shards.empty()) trial.data.split = shards.front()->split;
  std::erase_if(shards, [&](const dataset::ShardCount* other) { return other->split != trial.data.split; });

  std::vector<WayToRead> ways;
  const bool has_images = index.has_images();
  const bool are_dicoms = index.dicom_files * 2 > index.files;
  const bool are_jpegs = !are_dicoms && index.png_files * 2 < index.files;
  const char* const kind = are_dicoms ? "dicom" : are_jpegs ? "jpeg" : "png";
  if (has_images) ways.push_back({.name = kind, .settings = "", .trial = trial});
  if (has_images && are_jpegs) {
    ways.push_back({.name = "jpeg scaled", .settings = "data.jpeg=scaled", .trial = trial});
    ways.back().trial.data.jpeg = spec::JpegDecode::scaled;
  }
  for (const dataset::ShardCount* const found : shards) {
    const std::string format = spec::to_string(found->format);
    ways.push_back({.name = format, .settings = ways.empty() ? "" : "data.format=" + format, .trial = trial});
    ways.back().trial.data.format = found->format;
  }
  if (ways.empty()) refuse(index);
  return ways;
}

spec::MeasureSpec first_look_measure() {
  spec::MeasureSpec measure;
  measure.warmup_steps = kFirstWarmup;
  measure.steps = kFirstSteps;
  measure.repeats = 1;
  measure.extra_repeats = 0;
  return measure;
}

ProbePlan plan_probe(const FirstLook& slowest, std::size_t ways, double left_s, int ranks) {
  ProbePlan plan{.measure = first_look_measure(), .batch_size = spec::TrainingSpec().batch_size};
  const double each_s = std::max(0.0, kUsedShare * left_s / static_cast<double>(ways));  // for all repeats of a way
  const double begin_s = std::max(0.0, slowest.repeat_s - slowest.measured_s);           // of a repeat
  double steps_s = std::min(kLongestSteps_s, each_s / kUsualRepeats - begin_s);
  if (steps_s <= 0) steps_s = std::max(0.0, each_s / spec::kRepeatsForInterval - begin_s);
  const double images = slowest.images_per_s * steps_s / ranks;  // of a rank and repeat
  plan.batch_size = std::clamp(static_cast<int>(images / kFewestProbeSteps), 1, plan.batch_size);
  const int steps = std::clamp(static_cast<int>(images / plan.batch_size), kFewestProbeSteps, kMostProbeSteps);
  plan.measure.warmup_steps = std::max(2, steps / 5);
  plan.measure.steps = steps - plan.measure.warmup_steps;
  plan.measure.repeats = kMostRepeats;
  plan.measure.relative_error = kRelativeError;
  plan.measure.max_seconds = std::max(each_s, 0.001);
  return plan;
}

std::string probe_name(const std::string& root) {
  std::filesystem::path path =
      spec::is_url(root) ? std::filesystem::path(root) : std::filesystem::absolute(root).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '-';
  }
  name.erase(0, name.find_first_not_of('.'));
  return name.empty() ? "data" : name;
}

}  // namespace chexbench::verbs
