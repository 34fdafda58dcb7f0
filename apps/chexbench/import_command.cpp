#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "output.hpp"
#include "spec/document.hpp"
#include "verbs/import/dlio.hpp"

namespace chexbench::app {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string file;
  std::string output;
  bool overwrite = false;
};

// @throws OutputError if one of the files exists
void check_absent(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    std::error_code error;  // an inaccessible file cannot be written either, and the writer reports why
    if (!fs::exists(fs::symlink_status(path, error))) continue;
    throw OutputError(
        fmt::format("{} is there already; give another folder to --output, or --overwrite to replace it", path));
  }
}

void import_dlio(const ImportArguments& arguments) {
  const verbs::DlioWorkload workload =
      verbs::parse_dlio_workload(spec::read_text_file(arguments.file, "workload of DLIO"), arguments.file);
  const std::string folder = arguments.output.empty() ? "./" + workload.name : arguments.output;
  const verbs::DlioImport made = verbs::import_dlio(workload, arguments.file, folder);
  if (!arguments.overwrite) check_absent({made.spec_path, made.profile_path});
  make_folder(folder);
  write_file_atomically(made.profile_path, made.profile_text);
  write_file_atomically(made.spec_path, made.spec_text);
  print(verbs::import_summary(workload, made));
}

}  // namespace

void add_import_commands(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("import", "Imports another benchmark's workload as an experiment.");
  verb->require_subcommand(1);
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* const dlio =
      verb->add_subcommand("dlio", "Imports a workload of DLIO or MLPerf Storage as a spec and a profile.");
  dlio->add_option("FILE", arguments->file,
                   "Read this workload, e.g. retinanet_b200.yaml of mlcommons/storage's configs/dlio/workload.")
      ->required()
      ->type_name("FILE");
  dlio->add_option("-o,--output", arguments->output,
                   "Write spec.json and the profile into this folder (default: ./ and the file's name).")
      ->type_name("DIR");
  dlio->add_flag("--overwrite", arguments->overwrite, "Replace these files if they are there.");
  dlio->callback([arguments] { import_dlio(*arguments); });
}

}  // namespace chexbench::app
