#include "data_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "data/check.hpp"
#include "data/convert.hpp"
#include "data/index_report.hpp"
#include "data/synth.hpp"
#include "output.hpp"

namespace chexbench::app {
namespace {

// @throws SpecError with the nearest split
spec::Split parse_split(const std::string& name) {
  static const std::map<std::string, spec::Split> splits = {
      {"train", spec::Split::train}, {"test", spec::Split::test}, {"all", spec::Split::all}};
  const auto found = splits.find(name);
  if (found == splits.end()) {
    throw SpecError(fmt::format("--split: unknown split '{}'{}", name,
                                suggestion(name, std::vector<std::string>{"train", "test", "all"})));
  }
  return found->second;
}

void add_index(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("index", "Count what a data set holds: images, patients, labels, splits, gaps");
  auto root = std::make_shared<std::string>();
  auto shown = std::make_shared<std::size_t>(5);
  verb->add_option("root", *root, "folder that holds Data_Entry_2017.csv and images/")->required();
  verb->add_option("--show", *shown, "names of missing, orphan and doubled items to list")->capture_default_str();
  verb->callback([root, shown] { print(data::index_report_text(data::report_index(*root), *shown)); });
}

void run_check(const std::string& root, std::size_t threads) {
  const data::CheckReport report = data::check_data_set(root, threads);
  for (const std::string& problem : report.problems) print(problem + "\n");
  print(fmt::format("images: {}\nrecords: {}\nbytes: {}\nseconds: {:.2f}\nproblems: {}\n", report.images,
                    report.records, report.bytes, report.seconds, report.problems.size()));
  if (!report.problems.empty()) {
    throw DataError(fmt::format("{} has {} problem{}, listed above", root, report.problems.size(),
                                report.problems.size() == 1 ? "" : "s"));
  }
}

void add_check(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand(
      "check", "Check every CRC, and that TFRecord and PNG give the same tensors; exit code 3 if not");
  auto root = std::make_shared<std::string>();
  auto threads = std::make_shared<std::size_t>(0);
  verb->add_option("root", *root, "folder of the data set")->required();
  verb->add_option("--threads", *threads, "0: one a core")->capture_default_str();
  verb->callback([root, threads] { run_check(*root, *threads); });
}

void add_synth(CLI::App& data) {
  CLI::App* const verb = data.add_subcommand("synth", "Make a synthetic data set whose findings a network can learn");
  auto options = std::make_shared<data::SynthOptions>();
  verb->add_option("directory", options->directory, "a new or empty folder, or one to go on with")->required();
  verb->add_option("--images", options->images, "number of images")->required();
  verb->add_option("--size", options->size, "side in pixels")->capture_default_str();
  verb->add_option("--seed", options->seed, "same seed, same set")->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core")->capture_default_str();
  verb->callback([options] {
    const data::SynthResult result = data::write_synthetic_set(*options);
    print(fmt::format("directory: {}\nimages: {}\nimages_written: {}\npatients: {}\nfile_bytes: {}\nseconds: {:.2f}\n",
                      options->directory, result.images, result.written, result.patients, result.bytes,
                      result.seconds));
  });
}

void run_convert(const data::ConvertOptions& options) {
  const data::Conversion result = data::convert_to_tfrecord(options);
  print(fmt::format(
      "manifest: {}\nimages: {}\npatients: {}\nshards: {}\nshards_kept: {}\nimage_bytes: {}\nshard_bytes: {}\n"
      "seconds: {:.2f}\nimages_per_s: {:.1f}\n",
      data::manifest_path(options.root, options.split), result.images, result.patients, result.shards.size(),
      result.kept(), result.image_bytes, result.shard_bytes, result.seconds,
      static_cast<double>(result.images) / result.seconds));
}

void add_convert(CLI::App& data) {
  CLI::App* const verb =
      data.add_subcommand("convert", "Write the images of a split into TFRecord shards: ROOT/tfrecord/");
  auto options = std::make_shared<data::ConvertOptions>();
  verb->add_option("root", options->root, "folder of the data set")->required();
  auto split = std::make_shared<std::string>("train");
  verb->add_option("--split", *split, "train, test or all")->capture_default_str();
  verb->add_option("--shards", options->shards, fmt::format("at least {}; 0: by size", data::kMinShards))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "0: one a core")->capture_default_str();
  verb->callback([options, split] {
    options->split = parse_split(*split);
    run_convert(*options);
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
}

}  // namespace chexbench::app
