#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/text.hpp"
#include "dataset/index_report.hpp"
#include "dataset/make/outcome.hpp"
#include "dataset/make/synth.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spec/folder_file.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::app {
namespace {

// Returns the value that a spec calls `name`. `option` and `what` are for the message.
// @throws SpecError if `known` does not contain `name`, with the nearest name
template <class Enum>
Enum choose(const std::string& option, const std::string& what, const std::string& name,
            const std::vector<std::string>& known) {
  for (const auto& [value, word] : spec::named_values<Enum>()) {
    if (word == name && std::ranges::find(known, to_string(value)) != known.end()) return value;
  }
  throw SpecError(fmt::format("--{}: unknown {} '{}'{}", option, what, name, suggestion(name, known)));
}

// Chooses among all values.
template <class Enum>
Enum choose(const std::string& option, const std::string& what, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [value, word] : spec::named_values<Enum>())
    if (word == to_string(value)) known.push_back(word);
  return choose<Enum>(option, what, name, known);
}

std::shared_ptr<std::string> add_split(CLI::App& verb) {
  auto split = std::make_shared<std::string>("train");
  verb.add_option("--split", *split, "Use this split: train, val, test or all.")
      ->type_name("TEXT:{train,val,test,all}")
      ->capture_default_str();
  return split;
}

spec::Split split_named(const std::string& name) {
  return choose<spec::Split>("split", "split", name, {"all", "test", "train", "val"});
}

void add_threads(CLI::App& verb, std::size_t& threads) {
  verb.add_option("--threads", threads, "Use this many threads; 0 means one per core.")->capture_default_str();
}

// Checks that --save will not overwrite a file. @throws SpecError if the root is a URL, OutputError if there is one
void check_can_save(const std::string& root) {
  if (spec::is_url(root)) {
    throw SpecError(
        fmt::format("--save writes {} into a folder of this machine, and '{}' is a URL", spec::kFolderFileName, root));
  }
  const std::string path = spec::folder_file_in(root);
  std::error_code error;  // after an error nothing is there, or writing will fail
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
    throw OutputError(fmt::format("--save: {} is there already; remove it first, or edit it", path));
  }
}

void save_layout(spec::DataLayout layout, const spec::DataSpec& data) {
  const std::string path = spec::folder_file_in(data.root);
  write_file_atomically(path, spec::folder_file_text(layout, data.labels));
  log::info("wrote {}", path);
}

void add_index(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("index", "Shows what is in a data set, what is missing, and the command to measure it.");
  auto set = add_data_set(*verb, "root");
  auto shown = std::make_shared<std::size_t>(5);
  verb->add_option("--show", *shown, "List at most this many names of each kind of problem; JSON lists all.")
      ->capture_default_str();
  auto save = std::make_shared<bool>(false);
  verb->add_flag("--save", *save,
                 "Save data.layout and data.labels in the folder's chexbench-data.json, which every command reads.");
  auto explain = std::make_shared<bool>(false);
  verb->add_flag("--explain", *explain, "List all counts.");
  auto format = std::make_shared<std::string>("table");
  add_format_option(*verb, *format, {"table", "json"});
  verb->callback([set, shown, explain, format, save] {
    const spec::DataSpec found = set->spec();
    if (*save) check_can_save(found.root);
    dataset::IndexReport report = dataset::report_index(storage::DataRoot(found));
    if (*save) save_layout(report.layout, found);
    report.layout_file = spec::folder_file(set->root);
    report.next = dataset::next_step(report, *save ? set->store_overrides() : set->overrides);
    print(
        *format == "json" ? dataset::index_report_json(report) : dataset::index_report_text(report, *shown, !*explain),
        *format);
  });
}

void print_outcome(const std::string& format, const std::string& json, const std::string& text) {
  if (format == "json") return print(json, format);
  print(text);
}

dataset::TypedRoot typed(const DataSetArguments& set) { return {.root = set.root, .overrides = set.overrides}; }

void run_check(const DataSetArguments& set, std::size_t threads, const std::string& format) {
  const dataset::CheckReport report = dataset::check_data_set(storage::DataRoot(set.spec()), threads);
  const dataset::TypedRoot root = typed(set);
  print_outcome(format, dataset::check_json(report, root), dataset::check_text(report, root));
  if (!report.problems.empty()) {
    throw DataError(fmt::format("{} has {}, listed above", set.root, count_text(report.problems.size(), "problem")));
  }
}

void add_check(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("check", "Checks CRCs, and that converted copies match their images (exit code 3 if not).");
  auto set = add_data_set(*verb, "root");
  auto threads = std::make_shared<std::size_t>(0);
  add_threads(*verb, *threads);
  auto format = std::make_shared<std::string>("table");
  add_format_option(*verb, *format, {"table", "json"});
  verb->callback([set, threads, format] { run_check(*set, *threads, *format); });
}

void add_synth(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand("synth", "Makes a synthetic data set whose labels a network can learn.");
  auto options = std::make_shared<dataset::SynthOptions>();
  verb->add_option("directory", options->directory,
                   "Write into this folder, which must be new, empty or from an interrupted call.")
      ->required()
      ->type_name("DIR");
  verb->add_option("--images", options->images, "Make this many images.")->required();
  verb->add_option("--size", options->size, "Make images of this height and width, in pixels.")->capture_default_str();
  auto classes = std::make_shared<int>(0);
  verb->add_option("--classes", *classes,
                   "Make color JPEGs of this many exclusive classes, in TFRecords like ImageNet's; 0: X-rays.")
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "Derive the images from this seed; the same seed gives the same data set.")
      ->capture_default_str();
  add_threads(*verb, options->threads);
  auto format = std::make_shared<std::string>("table");
  add_format_option(*verb, *format, {"table", "json"});
  verb->callback([options, classes, format] {
    const dataset::SynthResult result = *classes == 0
                                            ? dataset::write_synthetic_set(*options)
                                            : dataset::write_synthetic_classes({.directory = options->directory,
                                                                                .images = options->images,
                                                                                .classes = *classes,
                                                                                .size = options->size,
                                                                                .seed = options->seed,
                                                                                .threads = options->threads});
    const dataset::TypedRoot root{options->directory};
    print_outcome(*format, dataset::synth_json(result, root), dataset::synth_text(result, root));
  });
}

void add_convert(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("convert", "Converts a split's images to TFRecords, tar files or decoded pixels.");
  auto options = std::make_shared<dataset::ConvertOptions>();
  auto set = add_data_set(*verb, "root");
  const auto split = add_split(*verb);
  auto format = std::make_shared<std::string>("tfrecord");
  verb->add_option("--to", *format, "Write this format: tfrecord, webdataset (tar files) or cached (decoded pixels).")
      ->type_name("TEXT:{tfrecord,webdataset,cached}")
      ->capture_default_str();
  std::vector<CLI::Option*> of_pixels;
  of_pixels.push_back(
      verb->add_option("--image-size", options->pixels.image_size,
                       "For cached: keep pixels of this height and width, which must equal model.image_size.")
          ->capture_default_str());
  auto resize = std::make_shared<std::string>("bilinear");
  of_pixels.push_back(
      verb->add_option("--resize", *resize,
                       "For cached: resize with this method, bilinear or area, which must equal preprocess.resize.")
          ->type_name("TEXT:{bilinear,area}")
          ->capture_default_str());
  auto color = std::make_shared<std::string>("gray");
  of_pixels.push_back(
      verb->add_option("--color", *color, "For cached: decode to this, gray or rgb, which must equal data.color.")
          ->type_name("TEXT:{gray,rgb}")
          ->capture_default_str());
  verb->add_option("--shards", options->shards,
                   fmt::format("Write this many shards, at least {}; 0 means a number that follows from the size.",
                               dataset::kMinShards))
      ->capture_default_str();
  add_threads(*verb, options->threads);
  auto output = std::make_shared<std::string>("table");
  add_format_option(*verb, *output, {"table", "json"});
  verb->callback([options, set, split, format, resize, color, of_pixels, output] {
    options->format = choose<spec::DataFormat>("to", "format", *format, {"cached", "tfrecord", "webdataset"});
    // Other formats keep the images unchanged.
    for (const CLI::Option* option : of_pixels)
      require_choice(*option, options->format == spec::DataFormat::cached, "--to cached");
    const spec::DataSpec spec = set->spec();
    options->root = spec.root;
    options->layout = spec.layout;
    options->labels = spec.labels;
    options->split = split_named(*split);
    options->pixels.resize = choose<spec::ResizeMethod>("resize", "resize", *resize, {"area", "bilinear"});
    options->pixels.color = choose<spec::Color>("color", "color", *color, {"gray", "rgb"});
    const formats::Conversion result = dataset::convert_data_set(*options);
    const dataset::TypedRoot root = typed(*set);
    print_outcome(*output, dataset::conversion_json(result, root), dataset::conversion_text(result, root));
  });
}

void add_stage(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand("stage", "Copies to a local folder what a run reads; rerun it to resume.");
  auto set = add_data_set(*verb, "root");
  auto options = std::make_shared<dataset::StageOptions>();
  verb->add_option("directory", options->folder, "Write into this folder, as a data set of the same layout.")
      ->required()
      ->type_name("DIR");
  const auto split = add_split(*verb);
  auto format = std::make_shared<std::string>("images");
  verb->add_option("--format", *format, "Copy the files of this format, which must equal data.format.")
      ->type_name("TEXT:{images,tfrecord,webdataset,cached}")
      ->capture_default_str();
  verb->add_option("--threads", options->threads,
                   "Use this many threads; 0 means one per core, or 16 if reads mostly wait for a server.")
      ->capture_default_str();
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Write the result to stdout as JSON (--format is that of the files).");
  verb->callback([=] {
    options->data = set->spec();
    options->data.split = split_named(*split);
    options->data.format = choose<spec::DataFormat>("format", "format", *format);
    const dataset::Staging result = dataset::stage_data_set(*options);
    const dataset::TypedRoot copy{.root = options->folder, .overrides = set->layout_overrides()};
    print_outcome(*json ? "json" : "table", dataset::staging_json(result, copy), dataset::staging_text(result, copy));
  });
}

}  // namespace

void add_data_commands(CLI::App& app) {
  CLI::App* const data = app.add_subcommand("data", "Counts, checks, makes, converts and copies data sets.");
  data->require_subcommand(1);
  add_index(*data);
  add_check(*data);
  add_synth(*data);
  add_convert(*data);
  add_stage(*data);
}

}  // namespace chexbench::app
