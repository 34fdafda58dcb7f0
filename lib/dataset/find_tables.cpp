
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/layouts.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {
namespace {

using storage::StoreEntry;

constexpr std::size_t kMostRead = 16;  // of a folder: each image may have a table

bool is_file_called(const StoreEntry& entry, std::string_view name) {
  return entry.kind == StoreEntry::Kind::file && entry.name == name;
}

// Returns whether the table's header is one that chexbench writes: of a run, or the scores of an evaluation.
bool is_result(const std::vector<std::string>& names) {
  if (names.size() < 3) return false;
  if (names[0] == "experiment" && names[1] == "trial") return true;
  return names[0] == "file" && names[1] == "patient" && names[2] == "labels" &&
         std::ranges::any_of(names, [](const std::string& name) { return name.starts_with("probability_"); });
}

TableKind kind_of(const storage::Store& store, const std::string& folder, std::string_view name, bool has_evaluation) {
  const std::string lower = lower_case(name);
  if (name.starts_with("Data_Entry")) return TableKind::nih;
  if (has_evaluation && (lower == "roc.csv" || lower == "reliability.csv")) return TableKind::result;
  const std::string path = fmt::format("{}/{}", folder, name), head = table_head(store, path);
  if (head.empty()) return TableKind::own;
  const TableRows rows(head, path);
  if (is_result(rows.names())) return TableKind::result;
  if (lower.starts_with("data_entry") && std::ranges::find(rows.names(), "Image Index") != rows.names().end())
    return TableKind::nih;
  const bool has_name = lower == "train.csv" || lower == "valid.csv";
  return has_name && is_chexpert_header(rows.names()) ? TableKind::chexpert : TableKind::own;
}

// A table that cannot be read does not decide the layout; reading the labels from it reports the error.
TableKind kind_if_readable(const storage::Store& store, const std::string& folder, std::string_view name,
                           bool has_evaluation) {
  try {
    return kind_of(store, folder, name, has_evaluation);
  } catch (const DataError&) {
    return TableKind::own;
  }
}

}  // namespace

std::vector<FoundTable> find_tables(const storage::Store& store, const std::string& folder,
                                    std::span<const StoreEntry> entries) {
  const bool has_evaluation =
      std::ranges::any_of(entries, [](const StoreEntry& e) { return is_file_called(e, "evaluation.json"); });
  std::vector<FoundTable> tables;
  for (const StoreEntry& entry : entries) {
    if (entry.kind != StoreEntry::Kind::file || entry.name.starts_with('.')) continue;
    if (is_mimic_table(entry.name)) {
      tables.push_back({entry.name, TableKind::mimic});
    } else if (lower_case(entry.name).ends_with(".csv")) {
      const bool is_read = tables.size() < kMostRead || entry.name.starts_with("Data_Entry");
      tables.push_back(
          {entry.name, is_read ? kind_if_readable(store, folder, entry.name, has_evaluation) : TableKind::own});
    }
  }
  std::ranges::sort(tables, {}, &FoundTable::name);
  return tables;
}

bool has_kind(std::span<const FoundTable> tables, TableKind kind) {
  return std::ranges::find(tables, kind, &FoundTable::kind) != tables.end();
}

bool is_results_folder(std::span<const StoreEntry> entries) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(entries, [&](const StoreEntry& e) { return is_file_called(e, name); });
  };
  return (has("csv-metadata.json") && has("trials.csv")) || (has("evaluation.json") && has("roc.csv"));
}

std::string find_own_table(const storage::DataRoot& root, std::span<const FoundTable> tables) {
  if (!root.labels.csv.empty()) {
    std::string path = root.path + "/" + root.labels.csv;
    if (root.store->size(path)) return path;
    throw DataError(fmt::format("no label table {}, which data.labels.csv names", path));
  }
  std::vector<std::string> names, results;
  for (const FoundTable& table : tables) (table.kind == TableKind::result ? results : names).push_back(table.name);
  if (names.size() > 1) {
    throw DataError(fmt::format("'{}' holds several tables: set data.labels.csv to the one with the labels{}",
                                root.path, suggestion("", names)));
  }
  const std::string others =
      fmt::format("{} {} of chexbench, not labels", printable(fmt::to_string(fmt::join(results, ", "))),
                  results.size() == 1 ? "is a result" : "are results");
  if (names.empty()) {
    throw DataError(fmt::format("no label table in '{}': expected a *.csv there{}", root.path,
                                results.empty() ? "" : "; " + others));
  }
  if (!results.empty()) log::info_once("{}: {} is the table of labels: {}", root.path, names.front(), others);
  return root.path + "/" + names.front();
}

}  // namespace chexbench::dataset
