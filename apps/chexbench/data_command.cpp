#include "data_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "dataset/index_report.hpp"
#include "dataset/make/check.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/stage.hpp"
#include "dataset/make/synth.hpp"
#include "output.hpp"
#include "spec/names.hpp"
#include "spec/parse.hpp"

namespace chexbench::app {
namespace {

// What `name` stands for. @throws SpecError with the nearest of `known`
template <class Value>
Value choose(const std::string& option, const std::string& name, const std::map<std::string, Value>& known) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [word, value] : known) names.push_back(word);
  throw SpecError(fmt::format("--{}: unknown {} '{}'{}", option, option == "to" ? "format" : option, name,
                              suggestion(name, names)));
}

spec::Split parse_split(const std::string& name) {
  return choose<spec::Split>("split", name,
                             {{"train", spec::Split::train},
                              {"val", spec::Split::val},
                              {"test", spec::Split::test},
                              {"all", spec::Split::all}});
}

spec::DataFormat parse_target(const std::string& name) {
  return choose<spec::DataFormat>("to", name,
                                  {{"tfrecord", spec::DataFormat::tfrecord},
                                   {"webdataset", spec::DataFormat::webdataset},
                                   {"cached", spec::DataFormat::cached}});
}

spec::ResizeMethod parse_resize(const std::string& name) {
  return choose<spec::ResizeMethod>("resize", name,
                                    {{"bilinear", spec::ResizeMethod::bilinear}, {"area", spec::ResizeMethod::area}});
}

// Where a verb's data set is, and how it is laid out.
struct SetArguments {
  std::string root;
  std::vector<std::string> overrides;  // "data.labels.csv=labels.csv"

  // @throws SpecError as a spec with these keys would
  spec::DataSpec spec() const {
    std::vector<std::string> all = {"data.root=" + json_text(root)};
    for (const std::string& override : overrides) {
      if (!override.starts_with("data.layout=") && !override.starts_with("data.labels.") &&
          !override.starts_with("store.")) {
        throw SpecError(fmt::format("--set {}: only data.layout, data.labels and store have a meaning here", override));
      }
      all.push_back(override);
    }
    return spec::parse_spec("{}", "--set", all).base.data;
  }
};

std::shared_ptr<SetArguments> add_set(CLI::App& verb) {
  auto arguments = std::make_shared<SetArguments>();
  verb.add_option("root", arguments->root, "folder of the data set, or its URL")->required();
  verb.add_option("--set", arguments->overrides,
                  "A key of the spec that says how the set is laid out, e.g. --set data.layout=csv "
                  "--set data.labels.columns='Mass,Nodule'")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

void add_index(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("index", "Count what a data set holds: images, patients, labels, splits, gaps");
  auto set = add_set(*verb);
  auto shown = std::make_shared<std::size_t>(5);
  verb->add_option("--show", *shown, "names of missing, orphan and doubled items to list")->capture_default_str();
  verb->callback([set, shown] {
    print(dataset::index_report_text(dataset::report_index(storage::DataRoot(set->spec())), *shown));
  });
}

void run_check(const spec::DataSpec& set, std::size_t threads) {
  const dataset::CheckReport report = dataset::check_data_set(storage::DataRoot(set), threads);
  for (const std::string& problem : report.problems) print(problem + "\n");
  print(fmt::format("images: {}\nrecords: {}\nbytes: {}\nseconds: {:.2f}\nproblems: {}\n", report.images,
                    report.records, report.bytes, report.seconds, report.problems.size()));
  if (!report.problems.empty()) {
    throw DataError(fmt::format("{} has {} problem{}, listed above", set.root, report.problems.size(),
                                report.problems.size() == 1 ? "" : "s"));
  }
}

void add_check(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand(
      "check",
      "Check every CRC, and that images and what they were converted into give the same tensors; exit code 3 if not");
  auto set = add_set(*verb);
  auto threads = std::make_shared<std::size_t>(0);
  verb->add_option("--threads", *threads, "0: one a core")->capture_default_str();
  verb->callback([set, threads] { run_check(set->spec(), *threads); });
}

void add_synth(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand("synth", "Make a synthetic data set whose findings a network can learn");
  auto options = std::make_shared<dataset::SynthOptions>();
  verb->add_option("directory", options->directory, "a new or empty folder, or one to go on with")->required();
  verb->add_option("--images", options->images, "number of images")->required();
  verb->add_option("--size", options->size, "side in pixels")->capture_default_str();
  verb->add_option("--seed", options->seed, "same seed, same set")->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core")->capture_default_str();
  verb->callback([options] {
    const dataset::SynthResult result = dataset::write_synthetic_set(*options);
    print(fmt::format("directory: {}\nimages: {}\nimages_written: {}\npatients: {}\nfile_bytes: {}\nseconds: {:.2f}\n",
                      options->directory, result.images, result.written, result.patients, result.bytes,
                      result.seconds));
  });
}

void run_convert(const dataset::ConvertOptions& options) {
  const formats::Conversion result = dataset::convert_data_set(options);
  print(fmt::format(
      "manifest: {}\nimages: {}\npatients: {}\nshards: {}\nshards_kept: {}\nimage_bytes: {}\nshard_bytes: {}\n"
      "seconds: {:.2f}\nimages_per_s: {:.1f}\n",
      formats::manifest_path(options.root, options.split, options.format), result.images, result.patients,
      result.shards.size(), result.kept(), result.image_bytes, result.shard_bytes, result.seconds,
      static_cast<double>(result.images) / result.seconds));
}

void add_convert(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("convert", "Write the images of a split into another format: ROOT/FORMAT/");
  auto options = std::make_shared<dataset::ConvertOptions>();
  auto set = add_set(*verb);
  auto split = std::make_shared<std::string>("train");
  verb->add_option("--split", *split, "train, val, test or all")->capture_default_str();
  auto format = std::make_shared<std::string>("tfrecord");
  verb->add_option("--to", *format, "tfrecord, webdataset (tar files) or cached (decoded pixels)")
      ->capture_default_str();
  verb->add_option("--image-size", options->pixels.image_size, "cached: side of what is kept, as model.image_size")
      ->capture_default_str();
  auto resize = std::make_shared<std::string>("bilinear");
  verb->add_option("--resize", *resize, "cached: bilinear or area, as preprocess.resize")->capture_default_str();
  verb->add_option("--shards", options->shards, fmt::format("at least {}; 0: by size", dataset::kMinShards))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core")->capture_default_str();
  verb->callback([options, set, split, format, resize] {
    const spec::DataSpec spec = set->spec();
    options->root = spec.root;
    options->layout = spec.layout;
    options->labels = spec.labels;
    options->split = parse_split(*split);
    options->format = parse_target(*format);
    options->pixels.resize = parse_resize(*resize);
    run_convert(*options);
  });
}

// @throws SpecError with the nearest format
spec::DataFormat parse_format(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [format, word] : spec::named_values<spec::DataFormat>()) {
    if (word == name) return format;
    known.push_back(word);
  }
  throw SpecError(fmt::format("--format: unknown format '{}'{}", name, suggestion(name, known)));
}

void run_stage(const dataset::StageOptions& options) {
  const dataset::Staging result = dataset::stage_data_set(options);
  print(
      fmt::format("record: {}\nimages: {}\nfiles: {}\nfiles_kept: {}\nbytes: {}\nbytes_copied: {}\nseconds: {:.2f}\n"
                  "bytes_per_s: {:.0f}\n",
                  result.record, result.images, result.files, result.kept, result.bytes, result.copied_bytes,
                  result.seconds, static_cast<double>(result.copied_bytes) / result.seconds));
}

void add_stage(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand(
      "stage", "Copy what a run reads of a data set into a folder of this machine; the same command goes on");
  auto set = add_set(*verb);
  auto options = std::make_shared<dataset::StageOptions>();
  verb->add_option("directory", options->folder, "folder that becomes a data set of the same layout")->required();
  auto split = std::make_shared<std::string>("train");
  verb->add_option("--split", *split, "train, val, test or all")->capture_default_str();
  auto format = std::make_shared<std::string>("png");
  verb->add_option("--format", *format, "files to copy, as data.format")->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core; 16 where a server is asked")->capture_default_str();
  verb->callback([=] {
    options->data = set->spec();
    options->data.split = parse_split(*split);
    options->data.format = parse_format(*format);
    run_stage(*options);
  });
}

}  // namespace

void add_data_commands(CLI::App& app) {
  CLI::App* const data = app.add_subcommand("data", "Look at, check, make and convert data sets");
  data->require_subcommand(1);
  add_index(*data);
  add_check(*data);
  add_synth(*data);
  add_convert(*data);
  add_stage(*data);
}

}  // namespace chexbench::app
