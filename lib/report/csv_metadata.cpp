#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "report/csv.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

// Returns the name that CSVW accepts: that of a column, with the brackets of "pipeline.shuffle[1].buffer" escaped.
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

Json file_to_json(const CsvFile& file, const results::Report& report) {
  Json columns = Json::array();
  for (const Column& column : file.columns(report)) columns.push_back(column_to_json(column));
  return {{"url", file.name},
          {"dc:description", std::string(file.rows) + '.'},
          {"tableSchema", {{"columns", std::move(columns)}}}};
}

// Of a file that holds no figures.
template <std::string (*csv)(const results::Report&)>
std::string of_report(const analysis::Evaluation& evaluation) {
  return csv(evaluation.report);
}

}  // namespace

std::span<const CsvFile> csv_files() {
  static constexpr std::array files{
      CsvFile{"trials.csv", "One row per trial", trials_csv, trials_columns},
      CsvFile{"repeats.csv", "One row per repeat of a trial", of_report<repeats_csv>, repeats_columns},
      CsvFile{"steps.csv", "One row per measured step of each rank and repeat", of_report<steps_csv>, steps_columns},
      CsvFile{"ops.csv", "One row per op of each repeat, summed over its ranks and their threads", of_report<ops_csv>,
              ops_columns},
      CsvFile{"waits.csv", "One row for each op and part that a trial waits for, the longest wait first", waits_csv,
              waits_columns},
      CsvFile{"throttle.csv", "One row for each throttle reason that the GPUs of a trial had", of_report<throttle_csv>,
              throttle_columns},
      CsvFile{"notes.csv", "One row per note of a trial", of_report<notes_csv>, notes_columns},
      CsvFile{"epochs.csv", "One row per epoch of a training", of_report<epochs_csv>, epochs_columns},
      CsvFile{"aurocs.csv", "One row per label of each epoch", of_report<aurocs_csv>, aurocs_columns},
      CsvFile{"roc.csv", "One row per point of the ROC curve of each label, of the best epoch of each repeat",
              of_report<roc_csv>, roc_columns},
      CsvFile{"reliability.csv", "One row per bin of probabilities of each label, of the best epoch of each repeat",
              of_report<reliability_csv>, reliability_columns},
      CsvFile{"gpu.csv", "One row per sample of the GPU of each rank and repeat", of_report<gpu_csv>, gpu_columns},
      CsvFile{"gpu_throttle.csv", "One row for each throttle reason of each sample of gpu.csv",
              of_report<gpu_throttle_csv>, gpu_throttle_columns}};
  return files;
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
