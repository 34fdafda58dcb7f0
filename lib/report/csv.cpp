#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "report/csv.hpp"
#include "report/csv_rows.hpp"
#include "report/swept_keys.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for human readers

// Returns a column's name as CSVW accepts it, with the brackets of "pipeline.shuffle[1].buffer" escaped.
std::string csvw_name(const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '[')
      escaped += "%5B";
    else if (c == ']')
      escaped += "%5D";
    else
      escaped += c;
  }
  return escaped;
}

std::string sentences(const Column& column) {
  std::string text = column.meaning + '.';
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return column.empty_if.empty() ? text : text + " Empty if " + column.empty_if + '.';
}

Json column_to_json(const Column& column) {
  Json object = {{"name", csvw_name(column.name)},
                 {"titles", column.name},
                 {"dc:description", sentences(column)},
                 {"datatype", column.datatype}};
  if (!column.unit.empty()) object["schema:unitText"] = column.unit;
  object["required"] = column.empty_if.empty();
  return object;
}

// A report and its figures with a row in each file, from which the columns are taken.
const analysis::Evaluation& one_of_each() {
  static const results::Report kReport = [] {
    results::RepeatResult repeat{.wall_s = 1};
    repeat.steps = {{.timings = {.wall_s = 1, .wait_s = 1, .end_s = 1}}};
    repeat.ops = {{.op = "map"}};
    repeat.waits = {{.op_index = 0, .op = "map", .wait_s = 1}};
    repeat.gpus = {{.samples = {{.time_s = 0.5, .throttle_reasons = std::vector<std::string>{"sw_power_cap"}}}}};
    repeat.epochs = {{.scores = {{}}, .curves = {{}}}};
    results::Report report;
    report.trials = {{.notes = {""}, .repeats = {repeat}}};
    return report;
  }();
  static const analysis::Evaluation kEvaluation(kReport);
  return kEvaluation;
}

std::vector<Column> columns_of(const CsvFile& file, const results::Report& report) {
  CsvTable table;
  file.add_rows(table, one_of_each());
  return file.has_settings ? with_swept_keys(table.columns(), report) : table.columns();
}

Json file_to_json(const CsvFile& file, const results::Report& report) {
  Json columns = Json::array();
  for (const Column& column : columns_of(file, report)) columns.push_back(column_to_json(column));
  return {{"url", file.name},
          {"dc:description", std::string(file.rows) + '.'},
          {"tableSchema", {{"columns", std::move(columns)}}}};
}

}  // namespace

std::span<const CsvFile> csv_files() {
  static constexpr std::array files{
      CsvFile{"trials.csv", "One row per trial", add_trials, true, true},
      CsvFile{"repeats.csv", "One row per repeat of a trial", add_repeats, true, true},
      CsvFile{"steps.csv", "One row per measured step of each rank and repeat", add_steps, false, true},
      CsvFile{"ops.csv", "One row per op of each repeat, summed over its ranks and their threads", add_ops, false,
              true},
      CsvFile{"waits.csv", "One row for each op and part that a trial waits for, the longest wait first", add_waits},
      CsvFile{"throttle.csv", "One row for each throttle reason that the GPUs of a trial had", add_throttle},
      CsvFile{"notes.csv", "One row per note of a trial", add_notes},
      CsvFile{"epochs.csv", "One row per epoch of a training", add_epochs},
      CsvFile{"aurocs.csv", "One row per label of each epoch", add_aurocs},
      CsvFile{"roc.csv", "One row per point of the ROC curve of each label, of the best epoch of each repeat", add_roc},
      CsvFile{"reliability.csv", "One row per bin of probabilities of each label, of the best epoch of each repeat",
              add_reliability},
      CsvFile{"gpu.csv", "One row per sample of the GPU of each rank and repeat", add_gpu},
      CsvFile{"gpu_throttle.csv", "One row for each throttle reason of each sample of gpu.csv", add_gpu_throttle}};
  return files;
}

std::string csv_text(std::string_view name, const analysis::Evaluation& evaluation) {
  const CsvFile& file = *std::ranges::find(csv_files(), name, &CsvFile::name);
  CsvTable table;
  file.add_rows(table, evaluation);
  if (table.lines().empty() && !file.has_header) return "";
  return header_line(columns_of(file, evaluation.report)) + table.lines();
}

std::string csv_metadata(const results::Report& report, const std::vector<std::string>& written) {
  Json tables = Json::array();
  for (const CsvFile& file : csv_files()) {
    if (std::ranges::find(written, file.name) != written.end()) tables.push_back(file_to_json(file, report));
  }
  const Json object = {{"@context", Json::array({"http://www.w3.org/ns/csvw", {{"@language", "en"}}})},
                       {"dc:title", report.experiment},
                       {"tables", std::move(tables)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace chexbench::report
