#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks.hpp"
#include "build_facts.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "core/terminal.hpp"
#include "core/text.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "report/write.hpp"
#include "spec/resolved.hpp"
#include "spec/trial_spec.hpp"
#include "verbs/probe/probe.hpp"
#include "verbs/run/conclude.hpp"

namespace chexbench::app {
namespace {

struct ProbeArguments {
  std::vector<std::string> command_line;
  std::shared_ptr<DataSetArguments> data_set;
  double time_s = 60;
  std::string format = "table";
  std::string output;
  std::vector<std::string> gpus;
};

// @throws OutputError if the folder already has results, to avoid a minute's wait for the error
void check_output(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(folder + "/report.json", error)) return;
  throw OutputError(fmt::format("{} already holds a run; give another folder to --output", folder));
}

// Returns the measured trial as an experiment that runs from any folder, on any number of ranks, and with the default
// repeats.
spec::TrialSpec as_experiment(const results::TrialResult& trial) {
  spec::TrialSpec experiment = trial.spec;
  experiment.ranks = 0;
  experiment.measure = spec::MeasureSpec();
  experiment.measure.warmup_steps = trial.spec.measure.warmup_steps;
  experiment.measure.steps = trial.spec.measure.steps;
  std::string& root = experiment.data.root;
  if (!spec::is_url(root)) root = std::filesystem::absolute(root).lexically_normal().string();
  return experiment;
}

void write_files(verbs::Probe& probe, const std::string& folder) {
  check_output(folder);  // again: another probe may have ended first
  make_folder(folder);
  const std::string spec_file = folder + "/spec.json";
  write_file_atomically(spec_file, spec::to_json(as_experiment(probe.report.trials.front())) + "\n");
  probe.report.environment.spec_file = spec_file;
  verbs::conclude(probe.report);
  report::write_report(probe.report, folder);
  probe.result.folder = folder;
  probe.result.spec_file = spec_file;
  write_file_atomically(folder + "/probe.json", verbs::probe_json(probe.result));
}

// Writes the files. Without --output, the answer matters more than its files, so an unwritable folder only causes a
// warning. @throws OutputError if --output cannot be written
void write(verbs::Probe& probe, const ProbeArguments& arguments) {
  if (probe.result.ways.empty()) return;
  if (!arguments.output.empty()) return write_files(probe, arguments.output);
  const std::string date = probe.report.environment.date_utc;
  try {
    write_files(probe, make_results_folder(probe.report.experiment, date));
  } catch (const OutputError& error) {
    probe.result.folder.clear();
    probe.result.spec_file.clear();
    log::warning("nothing is written: {}", error.what());
  }
}

std::string text_of(const verbs::ProbeResult& result, const std::string& format) {
  return format == "json" ? verbs::probe_json(result) : verbs::probe_text(result);
}

std::string progress_line(const std::string& root, const verbs::ProbeProgress& progress) {
  const std::string rate = progress.images_per_s ? rate_text(*progress.images_per_s) + " images/s, " : "";
  const double left_s = progress.time_s - progress.passed_s;
  return fmt::format("measuring {}: {}{}", printable(root), rate,
                     left_s > 0 ? time_left_text(left_s, "at most") : "the time is up, and this repeat the last one");
}

verbs::Probe measure(const ProbeArguments& arguments, bench::Session& session, bool is_root) {
  StatusLine line(is_root && stderr_shows_status());
  const std::string& root = arguments.data_set->root;
  line.show(fmt::format("looking at {}", printable(root)));
  return verbs::probe(
      arguments.data_set->spec(), session.world(),
      {.time_s = arguments.time_s,
       .on_progress = [&](const verbs::ProbeProgress& progress) { line.show(progress_line(root, progress)); },
       .gpus = arguments.gpus});
}

// Prints the answer and writes its files. @throws OutputError if either cannot be done
void give_answer(verbs::Probe& probe, const ProbeArguments& arguments) {
  add_build_facts(probe.report.environment, arguments.command_line);
  try {
    write(probe, arguments);
  } catch (const OutputError&) {
    print(text_of(probe.result, arguments.format), arguments.format);
    throw;
  }
  print(text_of(probe.result, arguments.format), arguments.format);
}

void run(const ProbeArguments& arguments, bench::Session& session) {
  const int rank = join_ranks(session, log::Level::warning);
  if (rank == 0) {  // errors come before a minute of measuring
    check_output(arguments.output);
    if (!arguments.gpus.empty()) verbs::fed_accelerators(0, {}, arguments.gpus);
  }
  verbs::Probe probe = measure(arguments, session, rank == 0);
  const bool has_answer = rank == 0 && (!probe.interrupted || !probe.result.ways.empty());
  try {
    if (has_answer) give_answer(probe, arguments);
  } catch (const ReaderGone&) {
    if (!probe.interrupted) throw;  // the process ends with the signal that ended the measurement
  } catch (const OutputError& error) {
    if (!probe.interrupted) throw;
    log::error("{}", error.what());
  }
  if (probe.interrupted) std::rethrow_exception(probe.interrupted);
}

}  // namespace

void add_probe_command(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line) {
  CLI::App* const verb =
      app.add_subcommand("probe", "Measures how fast this machine delivers images, exactly as `chexbench DIR`.");
  const auto arguments = std::make_shared<ProbeArguments>();
  arguments->command_line = command_line;
  arguments->data_set = add_data_set(*verb, "DIR");
  verb->add_option("--time", arguments->time_s, "Measure for at most this many seconds.")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, verbs::kLongestProbe_s).description(""))
      ->capture_default_str();
  verb->add_option("--gpu", arguments->gpus, "Show how busy these accelerators stay, instead of V100, A100 and H100.")
      ->type_name("PROFILE")
      ->delimiter(',');
  verb->add_option("--output", arguments->output,
                   "Write the figures and a spec for --config into this folder (default: results/NAME/TIME).")
      ->type_name("DIR");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace chexbench::app
