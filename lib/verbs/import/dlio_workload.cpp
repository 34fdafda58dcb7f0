#include "verbs/import/dlio_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/text.hpp"
#include "spec/document.hpp"
#include "verbs/import/interpolation.hpp"
#include "verbs/import/yaml.hpp"

namespace chexbench::verbs {
namespace {

// Why keys of DLIO are left out, by the beginning of their paths; the first match counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kReasons = {{
    {"framework", "the loader says how batches are made"},
    {"model.", "the profile has the time of a step, which is all that counts of a network"},
    {"workflow.generate_data", "chexbench measures images that exist; `chexbench data synth` makes some"},
    {"workflow.checkpoint", "an emulated training writes no checkpoints"},
    {"workflow.evaluation", "an emulated training validates nothing"},
    {"checkpoint.", "an emulated training writes no checkpoints"},
    {"evaluation.", "an emulated training validates nothing"},
    {"storage.", "data.root says where the data are: a folder or a URL; store.* how to reach them"},
    {"dataset.num_files_train", "the images of data.root are measured"},
    {"dataset.num_samples_per_file", "the images of data.root are measured"},
    {"dataset.record_length_bytes_stdev", "images have the sizes that they have"},
    {"dataset.record_length_stdev", "images have the sizes that they have"},
    {"dataset.", "the images of data.root are measured"},
    {"train.total_training_steps", "measure.steps says how many steps a repeat has"},
    {"train.computation_time_stdev", "every emulated step takes the same time"},
    {"train.computation_time.", "every emulated step takes the mean"},
    {"metric.exclude_start_steps", "measure.warmup_steps are left out"},
    {"reader.", "the pipeline of this loader has nothing like it"},
    {"data_reader.", "the pipeline of this loader has nothing like it"},
}};

std::string_view reason_of(const std::string& path) {
  const auto found = std::ranges::find_if(kReasons, [&](const auto& reason) { return path.starts_with(reason.first); });
  return found == kReasons.end() ? "chexbench has nothing like it" : found->second;
}

// The values of a file, and which of them were read.
class Workload {
 public:
  Workload(std::vector<YamlValue> values, const std::string& source)
      : values_(std::move(values)), found_(values_), interpolation_(values_, source), source_(source) {}

  // Returns the resolved value of a key by the first of its names in the file, or null.
  const YamlValue* find(std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths) {
      const auto found = std::ranges::find(values_, path, &YamlValue::path);
      if (found == values_.end()) continue;
      used_.insert(found->path);
      YamlValue& value = found_[static_cast<std::size_t>(found - values_.begin())];
      value.text = interpolation_.text_of(*found);
      return &value;
    }
    return nullptr;
  }

  std::string text(std::initializer_list<std::string_view> paths, const std::string& standard) {
    const YamlValue* value = find(paths);
    return value == nullptr ? standard : value->text;
  }

  double number(std::initializer_list<std::string_view> paths, double standard, double least, double most) {
    const YamlValue* value = find(paths);
    if (value == nullptr) return standard;
    const std::optional<double> number = parse_number<double>(value->text);
    if (number && *number >= least && *number <= most) return *number;
    fail(*value, fmt::format("must be a number from {} to {}, not '{}'", least, most, spec::shown(value->text)));
  }

  int count(std::initializer_list<std::string_view> paths, int standard, int least, int most) {
    const double value = number(paths, standard, least, most);
    if (value == std::floor(value)) return static_cast<int>(value);
    fail(*find(paths), "must be a whole number");
  }

  bool flag(std::initializer_list<std::string_view> paths, bool standard) {
    const YamlValue* value = find(paths);
    if (value == nullptr) return standard;
    const std::string word = lower_case(value->text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    fail(*value, fmt::format("must be True or False, not '{}'", spec::shown(value->text)));
  }

  [[noreturn]] void fail(const YamlValue& value, const std::string& complaint) const {
    throw SpecError(fmt::format("{}:{}: {} {}", source_, value.line, value.path, complaint));
  }

  [[noreturn]] void lacks(const char* path, const char* meaning) const {
    throw SpecError(
        fmt::format("{}: {} is missing, {}; give a workload that trains, such as retinanet_b200.yaml of "
                    "mlcommons/storage",
                    source_, path, meaning));
  }

  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> left;
    for (const YamlValue& value : values_) {
      if (used_.contains(value.path)) continue;
      left.push_back(
          {.line = value.line, .path = value.path, .text = value.text, .why = std::string(reason_of(value.path))});
    }
    return left;
  }

 private:
  std::vector<YamlValue> values_;
  std::vector<YamlValue> found_;  // the same, resolved once read
  Interpolation interpolation_;
  std::set<std::string> used_;
  const std::string& source_;
};

constexpr double kLongestStepS = 3600;
constexpr double kLargestRecord = 1e12;

spec::DataFormat format_of(Workload& file) {
  const YamlValue* const value = file.find({"dataset.format"});
  if (value == nullptr || value->text == "tfrecord") return spec::DataFormat::tfrecord;
  if (value->text == "jpeg" || value->text == "png") return spec::DataFormat::png;
  file.fail(*value, fmt::format("is {}, which chexbench does not read; it reads images: jpeg, png or tfrecord",
                                spec::shown(value->text)));
}

DlioLoader loader_of(Workload& file) {
  const YamlValue* const value = file.find({"reader.data_loader", "data_reader.data_loader"});
  if (value == nullptr || value->text == "tensorflow") return DlioLoader::tensorflow;
  if (value->text == "pytorch") return DlioLoader::pytorch;
  if (value->text == "dali" || value->text == "native_dali") return DlioLoader::dali;
  file.fail(*value, fmt::format("is {}, for which chexbench has no pipeline; it has pytorch, tensorflow and dali",
                                spec::shown(value->text)));
}

bool shuffles(Workload& file) {
  const std::string files = file.text({"reader.file_shuffle", "data_reader.file_shuffle"}, "off");
  const std::string samples = file.text({"reader.sample_shuffle", "data_reader.sample_shuffle"}, "off");
  return lower_case(files) != "off" || lower_case(samples) != "off";
}

void read_train(Workload& file, DlioWorkload& workload) {
  if (const YamlValue* const trains = file.find({"workflow.train"});
      trains != nullptr && !file.flag({"workflow.train"}, true))
    file.fail(*trains, "is False, so there is nothing to measure; give the file of the training, not of its data");
  workload.computation_time_s =
      file.number({"train.computation_time", "train.computation_time.mean"}, 0, 0, kLongestStepS);
  if (workload.computation_time_s <= 0) file.lacks("train.computation_time", "the seconds of a step");
  workload.epochs = file.count({"train.epochs"}, workload.epochs, 1, 100'000);
  const bool names_au = file.find({"metric.au"}) != nullptr;
  workload.au = file.number({"metric.au"}, workload.au, 0.01, 1);
  workload.au_is_default = !names_au;
}

void read_reader(Workload& file, DlioWorkload& workload) {
  workload.batch_is_default = file.find({"reader.batch_size", "data_reader.batch_size"}) == nullptr;
  workload.loader = loader_of(file);
  workload.batch_size = file.count({"reader.batch_size", "data_reader.batch_size"}, 1, 1, 65536);
  if (workload.loader == DlioLoader::dali) return;  // its pipeline has no such settings
  workload.read_threads = file.count({"reader.read_threads", "data_reader.read_threads"}, 1, 0, 1000);
  workload.prefetch_size = file.count({"reader.prefetch_size", "data_reader.prefetch_size"}, 2, 0, 1024);
  workload.shuffles = shuffles(file);
  if (workload.loader == DlioLoader::pytorch) return;
  workload.computation_threads =
      file.count({"reader.computation_threads", "data_reader.computation_threads"}, 1, 1, 1000);
  workload.shuffle_size = file.count({"reader.shuffle_size", "data_reader.shuffle_size"}, 1024, 1, 1'000'000);
}

}  // namespace

DlioWorkload parse_dlio_workload(const std::string& text, const std::string& source) {
  Workload file(read_yaml(text, source), source);
  DlioWorkload workload{.name = std::filesystem::path(source).stem().string()};
  read_train(file, workload);
  workload.format = format_of(file);
  read_reader(file, workload);
  workload.model = file.text({"model.name", "model"}, "");
  workload.data_folder = file.text({"dataset.data_folder"}, "");
  workload.record_bytes =
      file.number({"dataset.record_length_bytes", "dataset.record_length"}, 65536, 1, kLargestRecord);
  workload.delivered_bytes =
      file.number({"dataset.record_length_bytes_resize", "dataset.record_length_resize"}, 0, 0, kLargestRecord);
  workload.left_out = file.left_out();
  return workload;
}

}  // namespace chexbench::verbs
