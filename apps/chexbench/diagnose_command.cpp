#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/diagnose/diagnose.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::app {
namespace {

using verbs::LoggedStep;

constexpr int kMostBatch = 1'000'000;

struct DiagnoseArguments {
  std::vector<std::string> logs;
  std::vector<int> ranks;
  int batch = 0;  // images of a step in logs that do not count them; 0: not given
  std::string format = "table";
  bool explain = false;
};

// Removes the steps of all ranks that are not in `ranks`. Keeps all steps if `ranks` is empty.
// @throws SpecError if one of `ranks` is not in the log
void keep_ranks(std::vector<LoggedStep>& steps, const std::vector<int>& ranks) {
  if (ranks.empty()) return;
  std::set<int> present;
  for (const LoggedStep& step : steps) present.insert(step.rank);
  for (const int rank : ranks) {
    if (present.contains(rank)) continue;
    throw SpecError(fmt::format("--ranks: the log has no rank {}; it has {}", rank, fmt::join(present, ", ")));
  }
  std::erase_if(steps, [&](const LoggedStep& step) { return std::ranges::find(ranks, step.rank) == ranks.end(); });
}

void run(const DiagnoseArguments& arguments) {
  std::vector<verbs::NamedLog> logs;
  for (const std::string& path : arguments.logs) logs.push_back({.name = path, .log = verbs::read_step_log(path)});
  verbs::StepLog log = verbs::join_logs(std::move(logs), arguments.batch);
  keep_ranks(log.steps, arguments.ranks);
  if (!log.counts_images) log.notes.emplace_back("Add --batch N, the images of a step and rank, to see images/s.");
  const std::string source = fmt::format("{}", fmt::join(arguments.logs, ", "));
  print(verbs::format_diagnosis(verbs::diagnose(log), source, arguments.format, stdout_width(), !arguments.explain),
        arguments.format);
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* const verb =
      app.add_subcommand("diagnose", "Shows from a log of steps whether another program's training waits for input.");
  verb->add_option("LOG", arguments->logs,
                   "A log by scripts/hooks (CSV with wait_s, step_s, images, [rank], [epoch]), or a file by "
                   "torch.profiler, TraceML, Horovod or DLIO.")
      ->required()
      ->type_name("LOG");
  verb->add_option("--batch", arguments->batch, "Images per step and rank, for logs that lack them.")
      ->check(CLI::Range(1, kMostBatch));
  add_ranks_list(*verb, arguments->ranks, "Use only the ranks with these numbers, e.g. 0,3.");
  verb->add_flag("--explain", arguments->explain, "Show all findings, all ranks and slow steps.");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
