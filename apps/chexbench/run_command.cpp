#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/journal.hpp"
#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/ranks.hpp"
#include "bench/training/epochs.hpp"
#include "build_facts.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "report/write.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"
#include "verbs/run/conclude.hpp"
#include "verbs/run/dry_run.hpp"
#include "verbs/run/kept_spec.hpp"
#include "verbs/run/metrics_file.hpp"

namespace chexbench::app {
namespace {

constexpr int kMostPlannedRanks = 1'000'000;  // far more than any machine has

struct RunArguments {
  std::vector<std::string> command_line;
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  std::string resume;
  std::string format = "table";
  std::string findings;
  std::string progress = "auto";
  std::string metrics;
  bool dry_run = false;
  bool explain = false;
  std::optional<int> ranks;
  bool quiet = false;
  bool allow_shared_gpu = false;
  bool mllog = false;
};

// Returns the folder that this run writes to: --output, --resume, or a new folder under results/. Creates it and, for a
// new run, its journal.
// @throws OutputError if it cannot be created, if a new run would overwrite another, or if there is no run to resume
std::string output_folder(const RunArguments& arguments, const std::string& experiment, const std::string& date_utc) {
  namespace fs = std::filesystem;
  const bool resumes = !arguments.resume.empty();
  fs::path folder = resumes ? arguments.resume : arguments.output;
  if (folder.empty()) folder = make_results_folder(experiment, date_utc);
  std::error_code error;  // ignored by exists(): if the name is invalid, make_folder() reports it
  if (resumes && !fs::exists(folder / "journal.jsonl", error)) {
    throw OutputError(fmt::format("--resume {}: there is no journal.jsonl in it; give the folder of an earlier run",
                                  folder.string()));
  }
  make_folder(folder);
  if (!resumes && (fs::exists(folder / "report.json", error) || !bench::create_journal(folder / "journal.jsonl"))) {
    throw OutputError(fmt::format("{} already holds a run; give another folder to --output, or --resume {}",
                                  folder.string(), folder.string()));
  }
  return folder.string();
}

std::string events_of(const std::string& folder) { return folder + "/tensorboard"; }

std::string checkpoints_of(const std::string& folder) { return folder + "/checkpoints"; }

// Prints the result, then writes its files. A failure of one does not prevent the other.
// @throws OutputError if something could not be written; the first of two errors, except that a lost reader of standard
// output never hides a failed file
void publish(results::Report& report, const std::string& folder, const RunArguments& arguments) {
  verbs::conclude(report);
  const analysis::Evaluation evaluation(report);
  std::exception_ptr first_error;
  bool reader_gone = false;
  try {
    if (arguments.format == "table") {
      print_result(evaluation, arguments.findings, folder, arguments.explain);
    } else {
      print(report::format_report(evaluation, arguments.format), arguments.format);
    }
  } catch (const ReaderGone&) {
    first_error = std::current_exception();
    reader_gone = true;
  } catch (const OutputError&) {
    first_error = std::current_exception();
  }
  try {
    for (const std::string& path : report::write_report(evaluation, folder)) log::info("wrote {}", path);
    if (arguments.mllog) log::info("wrote {}", report::write_mllog(report, folder));
  } catch (const OutputError&) {
    if (!first_error || reader_gone) throw;
  }
  if (first_error) std::rethrow_exception(first_error);
}

// Logs how to view a run's trainings over epochs, if any.
void tell_how_to_watch(const results::Report& report, const std::string& folder) {
  const bool trains = std::ranges::any_of(
      report.trials, [](const results::TrialResult& trial) { return trial.spec.training.epochs > 0; });
  if (trains) log::info("watch it with: tensorboard --logdir {}", shell_word(events_of(folder)));
}

void tell_how_to_go_on(const std::string& folder, int ranks) {
  log::info("go on with: {}chexbench --resume {}", ranks > 1 ? fmt::format("mpirun -np {} ", ranks) : "",
            shell_word(folder));
}

// Writes the measurements of a run that ended early, and logs how to continue. If there is nothing new, writes nothing,
// so that an earlier report is kept and a new run can use the same --output.
void publish_partial(results::Report& report, const std::string& folder, const RunArguments& arguments,
                     const bench::RepeatKeys& before, int ranks) {
  const bench::RepeatKeys now = bench::repeat_keys(report);
  if (std::includes(before.begin(), before.end(), now.begin(), now.end())) {
    // A journal of a resumed run is not removed: another process may be at the first repeat of the same run.
    const bool can_go_on = !arguments.resume.empty() ||
                           std::filesystem::exists(checkpoints_of(folder));  // from a checkpoint of a training
    if (can_go_on) {
      tell_how_to_go_on(folder, ranks);
    } else if (bench::remove_empty_journal(folder + "/journal.jsonl")) {
      verbs::forget_run(folder);
    }
    return;
  }
  report.interrupted = true;
  try {
    publish(report, folder, arguments);
  } catch (const ReaderGone&) {  // the error that ended the run is reported instead
  } catch (const OutputError& error) {
    log::error("{}", error.what());  // only logged, because the process must end with the error that ended the run
  }
  tell_how_to_go_on(folder, ranks);
}

// Runs the trials and writes the results. If an error or a signal ends the run early, writes the measurements so far.
void measure(results::Report& report, comm::World& world, const verbs::RunSpec& run, const RunArguments& arguments) {
  const bool is_root = world.communicator().rank() == 0;
  const std::string folder = is_root ? output_folder(arguments, report.experiment, report.environment.date_utc) : "";
  const std::string journal_path = is_root ? folder + "/journal.jsonl" : "";
  const bench::RepeatKeys before = is_root ? bench::read_repeat_keys(journal_path) : bench::RepeatKeys{};
  if (is_root && !arguments.resume.empty()) {
    bench::RepeatKeys known = bench::finished_repeat_keys(checkpoints_of(folder));
    known.insert(before.begin(), before.end());
    bench::keep_known_keys(report, world.communicator().world(), known);
    bench::check_resumable(report, folder, before, verbs::difference_from_kept(run, folder));
  }
  std::optional<verbs::MetricsFile> metrics;
  std::optional<OutputError> lost_events;
  bench::ProgressOptions progress = bench::progress_options(arguments.progress);
  try {
    if (is_root) verbs::keep_spec(run, folder);
    if (is_root) tell_how_to_watch(report, folder);
    if (is_root && !arguments.metrics.empty()) metrics.emplace(arguments.metrics, report);
    if (metrics) progress.on_state = [&](const bench::RunState& state) { metrics->update(state); };
    bench::run_trials(report, world,
                      {.journal_path = journal_path,
                       .checkpoint_folder = is_root ? checkpoints_of(folder) : "",
                       .events_folder = is_root ? events_of(folder) : "",
                       .on_events_failure =
                           [&](const OutputError& error) {
                             log::warning("{}; the training goes on without events for TensorBoard", error.what());
                             if (!lost_events) lost_events = error;
                           },
                       .progress = progress,
                       .allow_shared_gpu = arguments.allow_shared_gpu});
    if (metrics) metrics->close(false);
  } catch (...) {
    if (metrics) metrics->close(true);
    if (is_root) publish_partial(report, folder, arguments, before, world.communicator().world());
    throw;
  }
  if (is_root) publish(report, folder, arguments);
  if (lost_events) {
    throw OutputError(
        fmt::format("{}: the events for TensorBoard end there; all other results are complete", lost_events->what()));
  }
}

// Returns the spec of --config or, without it, that of --resume's run, with --set added.
// @throws SpecError if it cannot be read
verbs::RunSpec run_spec(const RunArguments& arguments, bench::Session& session) {
  if (!arguments.config.empty()) {
    spec::SpecText found = spec::find_spec(arguments.config);
    return {.source = std::move(found.source), .text = std::move(found.text), .overrides = arguments.overrides};
  }
  verbs::RunSpec run = verbs::kept_spec(arguments.resume, session.world().communicator());
  run.overrides.insert(run.overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return run;
}

// Plans the trials of the spec, which it puts into `run`. @throws SpecError if the spec is wrong
results::Report plan(const RunArguments& arguments, bench::Session& session, verbs::RunSpec& run) {
  run = run_spec(arguments, session);
  const spec::SweepSpec sweep = verbs::sweep_of(run);
  return bench::plan_report(sweep.base.name, spec::expand(sweep), session.world(), arguments.ranks);
}

// Names the spec of run.json, for commands that run it again: it is not on the command line of a resumed run.
void name_spec(results::Environment& environment, const verbs::RunSpec& run) {
  environment.spec_file = run.source;
  environment.spec_overrides.clear();
  std::ranges::transform(run.overrides, std::back_inserter(environment.spec_overrides), without_credentials);
}

void run(const RunArguments& arguments, bench::Session& session) {
  if (arguments.config.empty() && arguments.resume.empty()) {
    throw SpecError(
        "nothing to do: give a folder of images, an experiment with --config SPEC, or a command; see `chexbench "
        "--help`");
  }
  table_options(arguments.findings, arguments.format, "",
                arguments.explain);  // refuses conflicting options before measuring
  const int rank = join_ranks(session, arguments.quiet ? log::Level::warning : log::Level::info);
  comm::World& world = session.world();
  verbs::RunSpec spec;
  results::Report report = in_agreement(session, [&] { return plan(arguments, session, spec); });
  add_build_facts(report.environment, arguments.command_line);
  if (arguments.config.empty()) name_spec(report.environment, spec);
  if (arguments.dry_run) {
    verbs::DryRun dry_run(report, world, arguments.ranks);
    const verbs::DryRun::Plan plan = dry_run.describe_plan();
    if (rank != 0) return;
    print(plan.problems);  // before any try, which may run out of memory
    print(dry_run.describe_time() + plan.summary);
    print(arguments.explain ? '\n' + plan.details : "details: --explain adds the resolved spec of each trial\n");
    return;
  }
  measure(report, world, spec, arguments);
}

// Returns whether ranks may differ in an option: only one rank uses it, it is about the display of progress, or it
// becomes part of the spec, which ranks compare.
bool may_differ(const std::string& option) {
  constexpr std::array<std::string_view, 11> kNames{"--config",  "--set",      "--output", "--resume",
                                                    "--format",  "--quiet",    "--mllog",  "--findings",
                                                    "--metrics", "--progress", "--explain"};
  return std::ranges::find(kNames, option) != kNames.end();
}

// Returns the command and its options, a line each, which all ranks of a job must share.
std::string shared_command(const CLI::App& app) {
  if (!app.get_subcommands().empty()) {
    const CLI::App& verb = *app.get_subcommands().front();
    return verb.get_name() + "\n" + shared_command(verb);
  }
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || may_differ(option->get_name())) continue;
    text += fmt::format("{} {}\n", option->get_name(), fmt::join(option->results(), " "));
  }
  return text;
}

// Refuses options of a run if a verb is given, because they would be ignored. @throws SpecError if there is one
void refuse_run_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    throw SpecError(fmt::format("{} belongs to a run of an experiment, not to `chexbench {}`", option->get_name(),
                                app.get_subcommands().front()->get_name()));
  }
}

}  // namespace

void add_run_options(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line) {
  const auto arguments = std::make_shared<RunArguments>();
  arguments->command_line = command_line;
  app.add_option("--config", arguments->config,
                 "Run the experiment of this JSON file, or a built-in one; `chexbench list` lists those.")
      ->type_name("SPEC");
  add_set_option(app, arguments->overrides,
                 "Override a key of the spec, e.g. --set data.root=/data/nih --set measure.steps=50.");
  app.add_option("--output", arguments->output,
                 "Write the results into this folder (default: results/EXPERIMENT/TIME).")
      ->type_name("DIR");
  app.add_option("--resume", arguments->resume,
                 "Continue the run in this folder, with its --config and --set, and keep its measurements.")
      ->type_name("DIR")
      ->excludes("--output");
  add_format_option(app, arguments->format, {"table", "json", "csv"});
  add_findings_option(app, arguments->findings);
  app.add_option(
         "--progress", arguments->progress,
         "Show progress on stderr; auto shows it on a terminal, or every 30 s when mpirun or srun hides the terminal.")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--metrics", arguments->metrics,
                 "Export progress to this file as OpenMetrics text, which Prometheus's node exporter reads.")
      ->type_name("FILE");
  CLI::Option* const dry_run = app.add_flag("--dry-run", arguments->dry_run, "Forecast time and memory, and stop.");
  app.add_flag(
      "--explain", arguments->explain,
      "Print all figures, and advice for each finding; with --dry-run, also the resolved trials and their memory.");
  add_rank_count(app, "--ranks", arguments->ranks, kMostPlannedRanks,
                 "With --dry-run: plan a job of this many ranks, even without mpirun or the data set. --set "
                 "ranks=1,2,4 sets which numbers of ranks are measured.",
                 "--set ranks=1,2,4 says which worlds are measured in a job")
      ->needs(dry_run);
  add_shared_gpu_flag(app, arguments->allow_shared_gpu);
  app.add_flag("--mllog", arguments->mllog,
               "Also write mllog.txt with MLPerf's log lines; each repeat counts as one MLPerf run.");
  app.add_flag("--quiet", arguments->quiet, "Log only warnings and errors.");
  app.parse_complete_callback([&app, &session] {
    if (!app.get_subcommands().empty()) refuse_run_options(app);
    session.set_command("chexbench " + shared_command(app));
  });
  app.callback([&app, arguments, &session] {
    if (app.get_subcommands().empty()) run(*arguments, session);
  });
}

}  // namespace chexbench::app
