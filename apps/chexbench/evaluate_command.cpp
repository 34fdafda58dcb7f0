#include "evaluate_command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "verbs/evaluate/class_activation.hpp"
#include "verbs/evaluate/evaluate.hpp"

namespace chexbench::app {
namespace {

struct EvaluateArguments {
  verbs::EvaluateOptions options;
  std::string output;
  std::string cam;  // a folder, or empty
  std::string format = "table";
};

std::string text_of(const verbs::EvaluationResult& result, const std::string& format) {
  if (format == "json") return verbs::evaluation_json(result);
  return format == "csv" ? verbs::evaluation_csv(result) : verbs::evaluation_table(result, stdout_width());
}

void write_files(const verbs::EvaluationResult& result, const std::string& folder) {
  if (folder.empty()) return;
  const auto write = [&folder](const char* name, const std::string& text) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    write_file_atomically(path, text);
    log::info("wrote {}", path);
  };
  write("scores.csv", verbs::scores_csv(result));
  write("evaluation.json", verbs::evaluation_json(result));
}

verbs::EvaluationResult evaluate(const EvaluateArguments& arguments, bench::Session& session) {
  try {
    return verbs::evaluate(session.world(), arguments.options);
  } catch (const SpecError&) {
    session.wait_for_root();  // all ranks found the same fault, and rank 0 reports it
    throw;
  } catch (const DataError&) {
    session.wait_for_root();  // as most faults of the data are the same on all ranks, too
    throw;
  }
}

void run(const EvaluateArguments& arguments, bench::Session& session) {
  comm::Communicator& ranks = session.world().communicator();
  log::configure(log::Level::info, ranks.world() > 1 ? ranks.rank() : -1);
  if (!arguments.cam.empty()) make_folder(arguments.cam);
  if (ranks.rank() == 0 && !arguments.output.empty()) make_folder(arguments.output);  // before minutes of work
  verbs::EvaluationResult result = evaluate(arguments, session);
  if (ranks.rank() != 0) return;
  result.chexbench_version = CHEXBENCH_VERSION;
  write_files(result, arguments.output);
  if (!arguments.cam.empty()) verbs::write_activation_maps(result, arguments.cam);
  print(text_of(result, arguments.format), arguments.format);
}

}  // namespace

void add_evaluate_command(CLI::App& app, bench::Session& session) {
  const auto arguments = std::make_shared<EvaluateArguments>();
  verbs::EvaluateOptions& options = arguments->options;
  CLI::App* const verb = app.add_subcommand(
      "evaluate",
      "Judge a trained network by a data set: AUROC, average precision and calibration of each finding; or print the "
      "probabilities that it gives for single images.");
  verb->add_option("--checkpoint", options.checkpoint,
                   "Use the network in this file: a checkpoint of a training, or safetensors with torchvision's names.")
      ->required()
      ->type_name("FILE");
  verb->add_option("IMAGE", options.images, "Print the probabilities of these images.")->type_name("FILE");
  verb->add_option("--data", options.root, "Evaluate the data set in this folder or at this URL.")->type_name("ROOT");
  verb->add_option("--split", options.split, "Evaluate this split of it.")
      ->check(CLI::IsMember({"train", "val", "test", "all"}))
      ->capture_default_str();
  verb->add_option("--set", options.overrides,
                   "Set a key of the spec, e.g. --set training.batch_size=64 --set training.precision=bf16.")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  verb->add_flag("--ten-crop", options.ten_crop,
                 "Average the probabilities of ten crops of each image: corners and middle, and their mirror images.");
  verb->add_option(
          "--cam", arguments->cam,
          "Write class activation maps of single images into this folder: a gray PNG for each image and label, "
          "white where the network finds most that speaks for the label.")
      ->type_name("DIR")
      ->each([arguments](const std::string&) { arguments->options.cam = true; });
  verb->add_option("--output", arguments->output,
                   "Write scores.csv, with a row for each image, and evaluation.json into this folder.")
      ->type_name("DIR");
  add_format_option(*verb, arguments->format, {"table", "json", "csv"});
  verb->add_flag("--allow-shared-gpu", options.allow_shared_gpu,
                 "Let several ranks share one GPU. This is only for trying things out.");
  verb->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace chexbench::app
