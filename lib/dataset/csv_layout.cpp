#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/image_files.hpp"
#include "dataset/label_columns.hpp"
#include "dataset/layouts.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {
namespace {

// Returns whether the path leads from its folder to a file below it and has no part that normalizing would change.
// Nearly all paths do.
bool is_plain_path(std::string_view path) {
  bool part_begins = true;
  for (const char c : path) {
    if (part_begins && (c == '.' || c == '/')) return false;
    part_begins = c == '/';
  }
  return !part_begins;
}

// Returns the name as a normal path. A name becomes part of a path, so nothing in a table may lead out of the root.
std::string_view image_name(std::string_view field, std::string_view where, NameArena& names) {
  if (is_plain_path(field) && !has_control_character(field)) return names.keep(field);
  const std::filesystem::path path(field);
  const bool leads_out = std::ranges::any_of(path, [](const auto& part) { return part == ".."; });
  if (field.empty() || path.is_absolute() || leads_out || field.ends_with('/') || has_control_character(field)) {
    throw DataError(fmt::format("{}: '{}' is not the name of an image file in the root", where, printable(field)));
  }
  return names.keep(path.lexically_normal().native());
}

void set_split(std::string_view field, std::string_view where, Index& index) {
  if (field.empty()) return;  // in no split
  bool IndexRow::*const split = split_called(field);
  if (split == nullptr) {
    throw DataError(fmt::format(
        "{}: '{}' is not a split: expected train, val, test (or another usual name of these), or an empty field", where,
        printable(field)));
  }
  index.rows.back().*split = true;
  note_split(split, index);
}

// Numbers the patients in the order of their names, one name for each row.
void set_patients(const std::vector<std::string_view>& patients, Index& index) {
  for (const std::uint32_t row : order_of_names(patients.size(), [&](std::size_t i) { return patients[i]; })) {
    const std::string_view patient = patients[row];
    if (index.patient_names.empty() || index.patient_names.back() != patient) index.patient_names.emplace_back(patient);
    index.rows[row].patient = static_cast<std::uint32_t>(index.patient_names.size() - 1);
  }
}

void read_rows(TableRows& table, const LabelColumns& columns, LabelReader& labels, Index& index) {
  NameArena patient_names;
  std::vector<std::string_view> patients;  // one for each row if the table has a column for them
  while (table.next()) {
    const std::vector<std::string_view>& fields = table.fields();
    const std::string_view where = table.where();
    IndexRow& row = index.rows.emplace_back();
    row.patient = static_cast<std::uint32_t>(index.rows.size() - 1);  // a patient each, by default
    row.name = image_name(fields[columns.image], where, index.names);
    row.labels = labels.read(fields, where);
    if (columns.split) set_split(fields[*columns.split], where, index);
    if (columns.patient) patients.push_back(patient_names.keep(fields[*columns.patient]));
  }
  set_patients(patients, index);
}

}  // namespace

Index read_csv_layout(const storage::DataRoot& root, std::span<const FoundTable> tables) {
  Index index;
  index.root = root.path;
  index.layout = spec::DataLayout::csv;
  index.table = find_own_table(root, tables);
  const TableText text(*root.store, index.table);
  TableRows table(text.text(), index.table);
  const LabelColumns columns = find_columns(table, root.labels, index.table);
  index.has_patients = columns.patient.has_value();
  index.likely_patient_column = columns.likely_patient;
  LabelReader labels(columns, root.labels);
  read_rows(table, columns, labels, index);
  if (index.rows.empty()) throw DataError(fmt::format("{}: the table has no rows", index.table));
  index.has_unclear_labels =
      root.labels.uncertain != spec::UnclearLabel::automatic || root.labels.blank != spec::UnclearLabel::automatic;
  index.label_names = labels.finish(index.table, index.rows);
  sort_rows(index.rows, index.table);
  return index;
}

}  // namespace chexbench::dataset
