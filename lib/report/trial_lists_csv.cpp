// The lists of a trial, which no cell of trials.csv can hold: each item has a row of its own.
#include "report/csv.hpp"

#include "report/csv_row.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/fields.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::report {
namespace {

using results::Field;

struct WaitRow {
  const results::Report& report;
  const results::TrialResult& trial;
  results::WaitShare wait;
};
struct ThrottleRow {
  const results::Report& report;
  const results::TrialResult& trial;
  measure::ThrottleShare reason;
};
struct NoteRow {
  const results::Report& report;
  const results::TrialResult& trial;
  std::string note;
};

template <class Visitor>
void visit_columns(Visitor& visit, const WaitRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(Field{"op_index", "", "position of the op in the pipeline, from 0"}, row.wait.op_index);
  visit(Field{"op", "", "name of the op that the steps waited for"}, row.wait.op);
  visit(Field{"part", "", "part of the op: read, parse, decode, resize or other",
              "the op has no parts, or none of them was at work"},
        row.wait.part);
  visit(Field{"wait_share", "1", "waits for this part of the op / wall time of the steps, over all ranks"},
        row.wait.share);
  visit(kEmulated, row.trial.emulated);
}

template <class Visitor>
void visit_columns(Visitor& visit, const ThrottleRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(Field{"reason", "", "a reason why the GPUs' clocks were not at their highest, in nvidia-smi's words"},
        row.reason.word);
  visit(Field{"share", "1", "share of the samples that had it: mean over GPUs and repeats"}, row.reason.share);
}

template <class Visitor>
void visit_columns(Visitor& visit, const NoteRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(Field{"note", "", "a sentence about how the trial was measured"}, row.note);
}

// Returns the columns of a `Row`.
template <class Row>
std::vector<Column> list_columns(const results::Report& report) {
  return columns_of(Row{report, {}, {}});
}

// Returns the file with a `Row` for each item that `items(index)` returns of a trial; it is empty if there are none.
template <class Row, class Items>
std::string list_csv(const results::Report& report, Items items) {
  std::string lines;
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    for (const auto& item : items(i)) lines += value_line(Row{report, report.trials[i], item});
  }
  return lines.empty() ? "" : header_line(list_columns<Row>(report)) + lines;
}

}  // namespace

std::vector<Column> waits_columns(const results::Report& report) { return list_columns<WaitRow>(report); }
std::string waits_csv(const analysis::Evaluation& evaluation) {
  return list_csv<WaitRow>(evaluation.report, [&](std::size_t trial) { return evaluation.figures[trial].waits; });
}

std::vector<Column> throttle_columns(const results::Report& report) { return list_columns<ThrottleRow>(report); }
std::string throttle_csv(const results::Report& report) {
  return list_csv<ThrottleRow>(
      report, [&](std::size_t trial) { return results::summarize_gpus(report.trials[trial]).throttle; });
}

std::vector<Column> notes_columns(const results::Report& report) { return list_columns<NoteRow>(report); }
std::string notes_csv(const results::Report& report) {
  return list_csv<NoteRow>(report, [&](std::size_t trial) { return report.trials[trial].notes; });
}

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
  visit(results::Field{"disturbed", "", "other processes used more than 10 % of the ranks' cores or time"},
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
