#include "diagnose_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "ranks_option.hpp"
#include "results/read.hpp"
#include "verbs/diagnose/diagnose.hpp"

namespace chexbench::app {
namespace {

using verbs::LoggedStep;

struct DiagnoseArguments {
  std::vector<std::string> logs;
  std::vector<int> ranks;
  std::string format = "table";
};

// Returns the steps of all logs.
// @throws DataError if a log cannot be read, or if two logs have the same rank, whose steps would be mixed
std::vector<LoggedStep> read_logs(const std::vector<std::string>& paths) {
  std::vector<LoggedStep> all;
  std::map<int, std::size_t> log_of_rank;
  for (std::size_t log = 0; log < paths.size(); ++log) {
    for (const LoggedStep& step : verbs::step_log_from_csv(results::read_text(paths[log]), paths[log])) {
      const std::size_t known = log_of_rank.try_emplace(step.rank, log).first->second;
      if (known != log) {
        throw DataError(fmt::format("{}: rank {} is in {}, too; give each rank its number in the column 'rank'",
                                    paths[log], step.rank, paths[known]));
      }
      all.push_back(step);
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
  std::vector<LoggedStep> steps = read_logs(arguments.logs);
  keep_ranks(steps, arguments.ranks);
  const std::string source = fmt::format("{}", fmt::join(arguments.logs, ", "));
  print(verbs::format_diagnosis(verbs::diagnose(steps), source, arguments.format), arguments.format);
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* const verb = app.add_subcommand(
      "diagnose",
      "Find out from a log of its steps whether a training of another program starves; scripts/hooks write such logs.");
  verb->add_option("LOG", arguments->logs,
                   "Read this CSV file, which has the columns wait_s, step_s, images, and optionally rank and epoch.")
      ->required()
      ->type_name("LOG");
  add_ranks_list(*verb, arguments->ranks, "Use only the ranks with these numbers, e.g. 0,3.");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
