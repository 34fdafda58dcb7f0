#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "report/shared_columns.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

struct RepeatRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
};

template <class Visitor>
void visit_columns(Visitor& visit, const RepeatRow& row) {
  visit_arm(visit, row.report, row.trial);
  results::visit_repeat(visit, row.repeat);
  visit(results::Field{"disturbed", "", "others took more than 10 % of the ranks' cores or time"},
        results::is_disturbed(row.repeat));
  visit(kCoresPerRank, row.trial.cores_per_rank);
  visit(kEmulated, row.trial.emulated);
}

}  // namespace

std::vector<Column> repeats_columns(const results::Report& report) {
  return with_swept_keys(columns_of(RepeatRow{.report = report, .trial = {}, .repeat = {}}), report);
}

std::string repeats_csv(const results::Report& report) {
  std::string text = header_line(repeats_columns(report));
  const std::vector<std::string> swept = swept_keys(report.trials);
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      CsvRow line;
      visit_columns(line, RepeatRow{.report = report, .trial = trial, .repeat = repeat});
      for (const std::string& key : swept) line(setting_of(trial.spec, key));
      text += std::move(line).line();
    }
  }
  return text;
}

}  // namespace chexbench::report
