#include "verbs/import/dlio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/text.hpp"
#include "spec/document.hpp"
#include "verbs/import/yaml.hpp"

namespace chexbench::verbs {
namespace {

// Without these, a small hostile file could take any time and memory.
constexpr std::size_t kMostReferences = 1000;
constexpr std::size_t kMostDepth = 32;
constexpr std::size_t kMostFilledBytes = 4096;

constexpr std::string_view kBegin = "${";
constexpr std::string_view kGroup = "workload.";  // where DLIO's own configuration puts such a file

std::string with_points(std::string_view path) {
  std::string points;
  for (const char c : path) {
    if (c == '[') points += '.';
    if (c != '[' && c != ']') points += c;
  }
  return points;
}

// Returns the position of the first of `marks` outside of all references, or the end.
std::size_t find_outside(std::string_view text, std::string_view marks) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (open == 0 && marks.find(text[i]) != std::string_view::npos) return i;
    if (text.substr(i).starts_with(kBegin)) ++open;
    if (open > 0 && text[i] == '}') --open;
  }
  return text.size();
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// Resolves the references in the values of a Hydra file the way OmegaConf does. Understands ${a.b} from the top of the
// file, or from Hydra's group (${workload.a.b}), ${.b} and ${..a.b} relative to the value, ${oc.env:NAME} and
// ${oc.env:NAME,default}, any of them nested, and \${ for the literal characters.
class Interpolation {
 public:
  // `values` must outlive the object.
  Interpolation(const std::vector<YamlValue>& values, const std::string& source);

  // Returns the text of a value with all references resolved.
  // @throws SpecError with source, line and path if it refers to something missing in the file or the environment, to a
  // mapping, to itself or to another resolver of Hydra, or must be given on the command line (???)
  std::string text_of(const YamlValue& value);

 private:
  std::string filled(const YamlValue& value, std::string_view text);
  std::string referred(const YamlValue& value, std::string_view reference);
  std::string node(const YamlValue& value, const std::string& reference);
  std::string environment_of(const YamlValue& value, std::string_view arguments);
  [[noreturn]] void fail(const std::string& complaint) const;

  const std::string& source_;
  std::map<std::string, const YamlValue*> values_;  // by their paths with points alone: "columns.0.name"
  const YamlValue* asked_ = nullptr;                // whose text is requested
  std::size_t references_ = 0;                      // followed for it
  std::size_t depth_ = 0;
};

Interpolation::Interpolation(const std::vector<YamlValue>& values, const std::string& source) : source_(source) {
  for (const YamlValue& value : values) values_.emplace(with_points(value.path), &value);
}

std::string Interpolation::text_of(const YamlValue& value) {
  asked_ = &value;
  references_ = depth_ = 0;
  return filled(value, value.text);
}

void Interpolation::fail(const std::string& complaint) const {
  throw SpecError(fmt::format("{}:{}: {} {}", source_, asked_->line, asked_->path, complaint));
}

// `value` contains the text.
std::string Interpolation::filled(const YamlValue& value, std::string_view text) {
  if (text == "???") fail("is to be given on DLIO's command line: write it out");
  if (++depth_ > kMostDepth) fail(fmt::format("refers to itself, or more than {} deep", kMostDepth));
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("\\${")) {
      out += kBegin;
      text.remove_prefix(kBegin.size() + 1);
    } else if (text.starts_with(kBegin)) {
      text.remove_prefix(kBegin.size());
      const std::size_t end = find_outside(text, "}");
      if (end == text.size()) fail("has '${' without '}'");
      out += referred(value, text.substr(0, end));
      text.remove_prefix(end + 1);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
    if (out.size() > kMostFilledBytes) fail(fmt::format("becomes longer than {} bytes", kMostFilledBytes));
  }
  --depth_;
  return out;
}

std::string Interpolation::referred(const YamlValue& value, std::string_view reference) {
  if (++references_ > kMostReferences) fail(fmt::format("refers to more than {} values", kMostReferences));
  const std::size_t colon = find_outside(reference, ":");
  if (colon == reference.size()) return node(value, std::string(trimmed(filled(value, reference))));
  const std::string resolver(trimmed(filled(value, reference.substr(0, colon))));
  if (resolver != "oc.env")
    fail(fmt::format("has ${{{}:...}}, which Hydra fills in: write it out", spec::shown(resolver)));
  return environment_of(value, reference.substr(colon + 1));
}

std::string Interpolation::node(const YamlValue& value, const std::string& reference) {
  std::string from = with_points(value.path);
  std::size_t dots = 0;
  for (; dots < reference.size() && reference[dots] == '.'; ++dots) {
    if (from.empty()) fail(fmt::format("refers to '{}', which is above the file", spec::shown(reference)));
    from.resize(from.find('.') == std::string::npos ? 0 : from.rfind('.'));
  }
  std::string path = with_points(std::string_view(reference).substr(dots));
  if (dots > 0 && !from.empty()) path = from + "." + path;
  if (dots == 0 && path.starts_with(kGroup) && !values_.contains(path)) path.erase(0, kGroup.size());
  if (const auto found = values_.find(path); found != values_.end()) return filled(*found->second, found->second->text);
  const auto below = values_.lower_bound(path + ".");
  if (!path.empty() && below != values_.end() && below->first.starts_with(path + "."))
    fail(fmt::format("refers to '{}', which has keys: write the value out", spec::shown(reference)));
  fail(fmt::format("refers to '{}', which the file does not have: write the value out", spec::shown(reference)));
}

std::string Interpolation::environment_of(const YamlValue& value, std::string_view arguments) {
  const std::size_t comma = find_outside(arguments, ",");
  const std::string name(without_quotes(trimmed(filled(value, arguments.substr(0, comma)))));
  if (const char* const found = std::getenv(name.c_str())) return found;
  if (comma == arguments.size())
    fail(fmt::format("refers to the variable {} of the environment, which is not set", spec::shown(name)));
  return std::string(without_quotes(trimmed(filled(value, arguments.substr(comma + 1)))));
}

// Why keys of DLIO are left out, by the beginning of their paths; the first match counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kReasons = {{
    {"framework", "the loader says how batches are made"},
    {"model.", "the profile has the time of a step, and nothing else of a network matters"},
    {"workflow.generate_data", "chexbench measures images that exist; `chexbench data synth` makes some"},
    {"workflow.checkpoint", "an emulated training writes no checkpoints"},
    {"workflow.evaluation", "an emulated training validates nothing"},
    {"checkpoint.", "an emulated training writes no checkpoints"},
    {"evaluation.", "an emulated training validates nothing"},
    {"storage.", "data.root says where the data are: a folder or a URL; store.* how to reach them"},
    {"dataset.num_files_train", "the images of data.root are measured"},
    {"dataset.num_samples_per_file", "the images of data.root are measured"},
    {"dataset.record_length_bytes_stdev", "real images have various sizes"},
    {"dataset.record_length_stdev", "real images have various sizes"},
    {"dataset.", "the images of data.root are measured"},
    {"train.total_training_steps", "measure.steps says how many steps a repeat has"},
    {"train.computation_time_stdev", "every emulated step takes the same time"},
    {"train.computation_time.", "every emulated step takes the mean"},
    {"metric.exclude_start_steps", "measure.warmup_steps are left out"},
    {"reader.", "the pipeline of this loader has no equivalent"},
    {"data_reader.", "the pipeline of this loader has no equivalent"},
}};

std::string_view reason_of(const std::string& path) {
  const auto found = std::ranges::find_if(kReasons, [&](const auto& reason) { return path.starts_with(reason.first); });
  return found == kReasons.end() ? "chexbench has no equivalent" : found->second;
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
  if (value->text == "jpeg" || value->text == "png") return spec::DataFormat::images;
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
