#include "diagnose_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "ranks_option.hpp"
#include "verbs/diagnose/diagnose.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::app {
namespace {

using verbs::LoggedStep;
using verbs::StepLog;

constexpr int kMostBatch = 1'000'000;

struct DiagnoseArguments {
  std::vector<std::string> logs;
  std::vector<int> ranks;
  int batch = 0;  // images of a step in logs that do not say; 0: not given
  std::string format = "table";
};

// Appends the steps of a log to those of others. Logs that do not name their rank get the position that they have among
// all, and those that do not count images get `batch` for each step.
void append(StepLog log, int position, int batch, StepLog& all) {
  for (LoggedStep& step : log.steps) {
    if (!log.names_ranks) step.rank = position;
    if (!log.counts_images) step.images = batch > 0 ? batch : 1;
    all.steps.push_back(step);
  }
  all.least_waits = all.least_waits || log.least_waits;
  for (std::string& note : log.notes) {
    if (std::ranges::find(all.notes, note) == all.notes.end()) all.notes.push_back(std::move(note));
  }
}

// Returns the steps of all logs. Without `batch`, logs that do not count images count steps.
// @throws DataError if a log cannot be read, or if two logs have the same rank, whose steps would be mixed
// @throws SpecError if some logs count images, and others need `batch`
StepLog read_logs(const std::vector<std::string>& paths, int batch) {
  StepLog all;
  std::map<int, std::size_t> log_of_rank;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    StepLog log = verbs::read_step_log(paths[i]);
    const bool counts = log.counts_images || batch > 0;
    if (i > 0 && counts != all.counts_images) {
      throw SpecError(
          fmt::format("{} and {}: only one of them counts images; add --batch N, the images of a step and "
                      "rank",
                      paths[i - 1], paths[i]));
    }
    all.counts_images = counts;
    const std::size_t first = all.steps.size();
    append(std::move(log), static_cast<int>(i), batch, all);
    for (std::size_t step = first; step < all.steps.size(); ++step) {
      const int rank = all.steps[step].rank;
      const std::size_t known = log_of_rank.try_emplace(rank, i).first->second;
      if (known == i) continue;
      throw DataError(fmt::format("{}: rank {} is in {}, too; give each rank its number in the column 'rank'", paths[i],
                                  rank, paths[known]));
    }
  }
  return all;
}

// Removes the steps of all ranks that are not in `ranks`. Keeps all steps if `ranks` is empty.
// @throws SpecError if one of `ranks` is not in the log
void keep_ranks(std::vector<LoggedStep>& steps, const std::vector<int>& ranks) {
  if (ranks.empty()) return;
  std::set<int> present;
  for (const LoggedStep& step : steps) present.insert(step.rank);
  for (const int rank : ranks) {
    if (present.contains(rank)) continue;
    throw SpecError(fmt::format("--ranks: there is no rank {} in the log, but {}", rank, fmt::join(present, ", ")));
  }
  std::erase_if(steps, [&](const LoggedStep& step) { return std::ranges::find(ranks, step.rank) == ranks.end(); });
}

void run(const DiagnoseArguments& arguments) {
  StepLog log = read_logs(arguments.logs, arguments.batch);
  keep_ranks(log.steps, arguments.ranks);
  if (!log.counts_images) log.notes.emplace_back("Add --batch N, the images of a step and rank, to see images/s.");
  const std::string source = fmt::format("{}", fmt::join(arguments.logs, ", "));
  print(verbs::format_diagnosis(verbs::diagnose(log), source, arguments.format, stdout_width()), arguments.format);
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* const verb = app.add_subcommand(
      "diagnose",
      "Find out from a log of its steps whether a training of another program starves; scripts/hooks write such logs.");
  verb->add_option(
          "LOG", arguments->logs,
          "Read this file: CSV with the columns wait_s, step_s, images, and optionally rank and epoch; a trace of "
          "torch.profiler; TraceML's final_summary.json; a timeline of Horovod; or DLIO's N_output.json or "
          "summary.json.")
      ->required()
      ->type_name("LOG");
  verb->add_option("--batch", arguments->batch, "Images of a step and rank, for files that do not say.")
      ->check(CLI::Range(1, kMostBatch));
  add_ranks_list(*verb, arguments->ranks, "Use only the ranks with these numbers, e.g. 0,3.");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
