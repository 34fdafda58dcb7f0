#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/label_columns.hpp"
#include "dataset/layouts.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {
namespace {

constexpr std::string_view kColumns[] = {"Path", "Sex", "Age", "Frontal/Lateral"};
constexpr std::string_view kPatient = "patient";
constexpr int kChexpertPathParts =
    3;  // patient00001/study1/view1_frontal.jpg: the folders above differ between editions

struct Table {
  std::string_view name;
  bool IndexRow::*split;
};
// The test set was published later (CheXlocalize), as test_labels.csv.
constexpr Table kTables[] = {{"train.csv", &IndexRow::in_train},
                             {"valid.csv", &IndexRow::in_val},
                             {"test.csv", &IndexRow::in_test},
                             {"test_labels.csv", &IndexRow::in_test}};

std::uint32_t patient_of(std::string_view name, std::string_view where) {
  std::string_view digits = name.substr(0, name.find('/'));
  // A name becomes part of a path, so nothing in a table may lead out of the root.
  const bool is_plain = name.find("/.") == std::string_view::npos && name.find("//") == std::string_view::npos;
  if (is_plain && digits.size() < name.size() && digits.starts_with(kPatient)) {
    digits.remove_prefix(kPatient.size());
    if (const auto number = parse_number<std::uint32_t>(digits)) return *number;
  }
  throw DataError(
      fmt::format("{}: '{}' is not the path of a CheXpert image, as in patient00001/study1/view1_frontal.jpg", where,
                  printable(name)));
}

void read_table(const TableText& table, const Table& which, const spec::LabelsSpec& spec, Index& index) {
  TableRows rows(table.text(), table.path());
  const LabelColumns columns = find_columns(rows, spec, table.path());
  LabelReader labels(columns, spec);
  while (rows.next()) {
    const std::string_view path = rows.fields()[columns.image];
    if (has_control_character(path)) {
      throw DataError(fmt::format("{}: '{}' is not the name of an image file", rows.where(), printable(path)));
    }
    IndexRow& row = index.rows.emplace_back();
    row.name = index.names.keep(last_parts(path, kChexpertPathParts));
    row.patient = patient_of(row.name, rows.where());
    row.labels = labels.read(rows.fields(), rows.where());
    row.*which.split = true;
  }
  labels.check_letters();
  note_split(which.split, index);
  index.label_names = columns.label_names;
}

}  // namespace

bool is_chexpert_header(const std::vector<std::string>& names) {
  return std::ranges::all_of(kColumns,
                             [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); });
}

Index read_chexpert_layout(const storage::DataRoot& root) {
  Index index;
  index.root = root.path;
  index.layout = spec::DataLayout::chexpert;
  index.has_patients = index.has_unclear_labels = true;
  const spec::LabelsSpec spec = observation_labels(root.labels, "Path");
  const std::vector<FoundTable> tables = find_tables(*root.store, root.path, root.store->list(root.path));
  for (const Table& table : kTables) {
    const auto found =
        std::ranges::find_if(tables, [&](const FoundTable& t) { return lower_case(t.name) == table.name; });
    if (found == tables.end()) continue;
    const std::string path = fmt::format("{}/{}", root.path, found->name);
    read_table(TableText(*root.store, path), table, spec, index);
    if (index.table.empty()) {
      index.table = path;
    } else {
      index.other_tables.push_back(path);
    }
  }
  if (index.table.empty()) {
    throw DataError(fmt::format("no label table in '{}': expected CheXpert's train.csv or valid.csv", root.path));
  }
  if (index.rows.empty()) throw DataError(fmt::format("{}: the table has no rows", index.table));
  sort_rows(index.rows, index.table);
  return index;
}

std::vector<ImageFile> find_chexpert_files(const storage::DataRoot& root, NameArena& names, PassedOver* passed) {
  return find_study_files(root, kChexpertPathParts, names, passed);
}

}  // namespace chexbench::dataset
