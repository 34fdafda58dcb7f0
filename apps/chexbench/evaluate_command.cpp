#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "verbs/evaluate/evaluate.hpp"

namespace chexbench::app {
namespace {

constexpr int kMostMaps = 1024;  // more than any data set has findings

struct EvaluateArguments {
  verbs::EvaluateOptions options;
  std::string output;
  std::string format = "table";
};

std::string text_of(const verbs::EvaluationResult& result, const std::string& format) {
  if (format == "json") return verbs::evaluation_json(result);
  return format == "csv" ? verbs::evaluation_csv(result) : verbs::evaluation_table(result, stdout_width());
}

void write_class_maps(const verbs::EvaluationResult& result, const std::string& folder) {
  const std::filesystem::path maps = std::filesystem::path(folder) / "cam";
  for (const verbs::ScoreRow& row : result.rows) {
    if (row.maps.empty()) continue;
    make_folder(maps.string());
    const std::vector<std::vector<std::byte>> pngs = verbs::class_map_pngs(row, result.image_size);
    for (std::size_t i = 0; i < pngs.size(); ++i) {
      const std::string path = (maps / row.maps[i].file).string();
      write_file_atomically(path, std::string_view(reinterpret_cast<const char*>(pngs[i].data()), pngs[i].size()));
      log::info("wrote {}", path);
    }
  }
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
  write_class_maps(result, folder);
  if (!result.data_set) return;
  if (!result.data_set->classes) write("roc.csv", verbs::evaluation_roc_csv(result));
  write("reliability.csv", verbs::evaluation_reliability_csv(result));
  write("evaluation.html", verbs::evaluation_html(result));
}

verbs::EvaluationResult evaluate(const EvaluateArguments& arguments, bench::Session& session) {
  try {
    return in_agreement(session, [&] { return verbs::evaluate(session.world(), arguments.options); });
  } catch (const DataError&) {
    session.wait_for_root();  // most faults of the data are also the same on all ranks
    throw;
  }
}

void run(const EvaluateArguments& arguments, bench::Session& session) {
  const bool is_root = join_ranks(session) == 0;
  if (arguments.options.class_maps > 0 && arguments.output.empty()) {
    throw SpecError("--cam writes PNGs: add --output DIR for their folder");
  }
  if (is_root && !arguments.output.empty()) make_folder(arguments.output);  // fails before minutes of work
  const verbs::EvaluationResult result = evaluate(arguments, session);
  if (!is_root) return;
  write_files(result, arguments.output);
  print(text_of(result, arguments.format), arguments.format);
}

}  // namespace

void add_evaluate_command(CLI::App& app, bench::Session& session) {
  const auto arguments = std::make_shared<EvaluateArguments>();
  verbs::EvaluateOptions& options = arguments->options;
  CLI::App* const verb =
      app.add_subcommand("evaluate", "Judges a trained network on a data set, or scores single images.");
  verb->add_option("--checkpoint", options.checkpoint,
                   "Use this network: a checkpoint of chexbench, or safetensors with torchvision's names.")
      ->required()
      ->type_name("FILE");
  verb->add_option("IMAGE", options.images, "Print the probabilities of these images.")->type_name("FILE");
  CLI::Option* const data =
      verb->add_option("--data", options.root, "Evaluate the data set in this folder or at this URL.")
          ->type_name("ROOT");
  verb->add_option("--split", options.split, "Evaluate this split of it.")
      ->check(CLI::IsMember({"train", "val", "test", "all"}))
      ->needs(data)
      ->capture_default_str();
  add_set_option(*verb, options.overrides,
                 "Set a key as in a spec, e.g. --set training.batch_size=64 --set training.precision=bf16.");
  verb->add_option("--cam", options.class_maps,
                   "Write PNGs into OUTPUT/cam that mark in red the regions that most influence an image's N most "
                   "probable labels.")
      ->type_name("N")
      ->check(CLI::Range(1, kMostMaps));
  verb->add_flag("--ten-crop", options.ten_crop,
                 "Average the probabilities of ten crops: corners and middle, and their mirror images.");
  verb->add_option("--output", arguments->output,
                   "Write scores.csv and evaluation.json into this folder; for a data set also evaluation.html, "
                   "reliability.csv and roc.csv.")
      ->type_name("DIR");
  add_format_option(*verb, arguments->format, {"table", "json", "csv"});
  add_shared_gpu_flag(*verb, options.allow_shared_gpu, "for trying things out.");
  verb->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace chexbench::app
