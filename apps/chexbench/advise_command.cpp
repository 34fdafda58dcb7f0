#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/text.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "spec/parse.hpp"
#include "spec/resolved.hpp"
#include "verbs/advise/advise.hpp"
#include "verbs/advise/edits.hpp"

namespace chexbench::app {
namespace {

struct AdviseArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  std::string format = "table";
  double budget_s = 300;
  std::vector<std::string> without;
  bool explain = false;
};

// Returns the one trial of the spec. @throws SpecError if the spec is wrong or describes more than one trial
spec::Trial load_trial(const AdviseArguments& arguments) {
  const std::vector<spec::Trial> trials = spec::expand(spec::load_spec(arguments.config, arguments.overrides));
  if (trials.size() == 1) return trials.front();
  throw SpecError(fmt::format("advise takes one trial, and {} describes {}: fix each swept key with --set KEY=VALUE",
                              arguments.config, trials.size()));
}

// Creates the output folder and returns its path.
// @throws OutputError if it cannot be created or already contains advice
std::string make_advice_folder(const AdviseArguments& arguments, const std::string& experiment) {
  namespace fs = std::filesystem;
  fs::path folder = arguments.output;
  if (folder.empty()) {
    folder = make_results_folder(experiment + "-advice",
                                 fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  }
  std::error_code error;
  chexbench::make_folder(folder);
  if (fs::exists(folder / "advice.json", error))
    throw OutputError(fmt::format("{} already holds advice; give another folder to --output", folder.string()));
  return folder.string();
}

void write(const verbs::AdviceResult& result, spec::TrialSpec best, const std::string& folder) {
  best.ranks = 0;  // so that the spec runs on any number of ranks
  const auto put = [&folder](const char* name, const std::string& text) {
    write_file_atomically(folder + "/" + name, text);
    log::info("wrote {}/{}", folder, name);
  };
  put("pipeline.json", spec::to_json(best.pipeline) + "\n");
  put("spec.json", spec::to_json(best) + "\n");
  put("advice.json", verbs::advice_json(result.advice));
}

// Returns how to run the faster spec, or "" if no edit was kept.
std::string next_line(const verbs::Advice& advice, const std::string& folder) {
  if (!advice.ratio || advice.withdrawn) return "";
  const std::string ranks = advice.ranks > 1 ? fmt::format("mpirun -np {} ", advice.ranks) : "";
  return fmt::format("next     {}chexbench --config {}\n", ranks, shell_word(folder + "/spec.json"));
}

void advise(const AdviseArguments& arguments, bench::Session& session) {
  const int rank = join_ranks(session);
  const spec::Trial trial = in_agreement(session, [&] { return load_trial(arguments); });
  const std::string folder = rank == 0 ? make_advice_folder(arguments, trial.spec.name) : "";
  const verbs::AdviceResult result = verbs::advise(trial, session.world(),
                                                   {.budget_s = arguments.budget_s,
                                                    .without = {arguments.without.begin(), arguments.without.end()},
                                                    .run = {.progress = bench::progress_options("auto")}});
  if (rank != 0) return;
  print(arguments.format == "json"
            ? verbs::advice_json(result.advice)
            : verbs::advice_table(result.advice, stdout_width(), !arguments.explain) + next_line(result.advice, folder),
        arguments.format);
  write(result, result.best, folder);
}

}  // namespace

void add_advise_command(CLI::App& app, bench::Session& session) {
  const auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* const verb =
      app.add_subcommand("advise", "Finds a faster input pipeline by trying edits, and writes it as a spec.");
  verb->add_option("--config", arguments->config, "Read the experiment from this spec, which must have one trial.")
      ->type_name("SPEC")
      ->required();
  add_set_option(*verb, arguments->overrides, "Override a key of the spec.");
  verb->add_option("--output", arguments->output, "Write into this folder (default: results/EXPERIMENT-advice/TIME).")
      ->type_name("DIR");
  verb->add_option("--budget", arguments->budget_s, "Start no further try after this many seconds.")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--without", arguments->without, "Do not try these edits.")
      ->check(CLI::IsMember(verbs::edit_names()))
      ->option_text(fmt::format("EDIT:{{{}}}", fmt::join(verbs::edit_names(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_flag("--explain", arguments->explain, "Show all edits with their reasons, and what limits the trial.");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments, &session] { advise(*arguments, session); });
}

}  // namespace chexbench::app
