#include "report/finished_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "results/labels.hpp"

namespace chexbench::report {
namespace {

bool has_rate(const results::RepeatResult& repeat) { return repeat.images_per_s > 0 && repeat.images_trained > 0; }

// Returns why the trial is left out, or "".
std::string why_left_out(const results::Report& report, const results::TrialResult& trial) {
  if (trial.repeats.empty()) return "it was not measured";
  if (report.interrupted && trial.partial) return "the run was interrupted before all of its repeats were measured";
  if (!std::ranges::all_of(trial.repeats, has_rate)) return "one of its repeats has no images/s";
  return "";
}

}  // namespace

std::vector<FinishedTrial> finished_trials(const results::Report& report) {
  std::vector<FinishedTrial> finished;
  std::map<std::string, int> seen;
  for (const results::TrialResult& trial : report.trials) {
    std::string name = report.experiment + "/" + results::marked(trial);
    const int number = ++seen[name];
    if (number > 1) name += fmt::format(" #{}", number);
    if (const std::string why = why_left_out(report, trial); !why.empty())
      log::warning("{} is left out: {}", printable(name), why);
    else
      finished.push_back({.name = std::move(name), .trial = &trial});
  }
  if (finished.empty()) {
    throw DataError(
        fmt::format("{}: no trial was measured to its end, so there is nothing to compare; continue the run with "
                    "--resume",
                    printable(report.experiment)));
  }
  return finished;
}

}  // namespace chexbench::report
