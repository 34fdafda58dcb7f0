#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/label_columns.hpp"
#include "dataset/layouts.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {
namespace {

constexpr int kMimicPathParts = 4;  // p10/p10000032/s50414267/DICOM_ID.jpg, below files/

using StudyLabels = std::unordered_map<std::uint32_t, LabelBits>;

constexpr std::string_view kPrefix = "mimic-cxr-";  // then the version, such as 2.0.0
constexpr std::string_view kLabels = "-chexpert.csv";
constexpr std::string_view kSplit = "-split.csv";
constexpr std::string_view kPacked = ".gz";

bool is_table(std::string_view name, std::string_view ending) {
  std::string lower = lower_case(name);
  if (lower.ends_with(kPacked)) lower.resize(lower.size() - kPacked.size());
  return lower.starts_with(kPrefix) && lower.ends_with(ending);
}

// Returns the path of the table whose name has this ending, plain or compressed, or "" if there is none. The latest
// version is taken, and a plain file before a compressed one of the same name.
std::string find_table(const storage::DataRoot& root, std::string_view ending) {
  std::string found;
  for (const storage::StoreEntry& entry : root.store->list(root.path)) {
    if (!is_table(entry.name, ending)) continue;
    const bool is_same = entry.name.starts_with(found) || found.starts_with(entry.name);
    if (found.empty() || (is_same ? entry.name < found : entry.name > found)) found = entry.name;
  }
  return found.empty() ? "" : root.path + "/" + found;
}

std::string required_table(const storage::DataRoot& root, std::string_view ending) {
  std::string path = find_table(root, ending);
  if (!path.empty()) return path;
  throw DataError(
      fmt::format("no table {0}*{1} or {0}*{1}{2} in '{3}': MIMIC-CXR-JPG needs {0}2.0.0{4} and {0}2.0.0{5}", kPrefix,
                  ending, kPacked, root.path, kLabels, kSplit));
}

std::uint32_t number_in(const TableRows& rows, std::size_t column) {
  const std::string_view field = rows.fields()[column];
  if (const auto number = parse_number<std::uint32_t>(field)) return *number;
  throw DataError(fmt::format("{}: '{}' is not the number of a patient or a study", rows.where(), printable(field)));
}

StudyLabels read_labels(const TableText& table, const spec::LabelsSpec& spec, Index& index) {
  TableRows rows(table.text(), table.path());
  const LabelColumns columns = find_columns(rows, spec, table.path());
  LabelReader labels(columns, spec);
  StudyLabels of_study;
  while (rows.next()) {
    const std::uint32_t study = number_in(rows, columns.image);
    if (!of_study.emplace(study, labels.read(rows.fields(), rows.where())).second) {
      throw DataError(fmt::format("{}: study {} has more than one row; keep one of them", rows.where(), study));
    }
  }
  labels.check_letters();
  index.label_names = columns.label_names;
  return of_study;
}

bool IndexRow::*split_of(std::string_view name, std::string_view where) {
  if (bool IndexRow::*const split = split_called(name); split != nullptr) return split;
  throw DataError(fmt::format("{}: '{}' is not a split: expected train, validate or test", where, printable(name)));
}

// Returns the image's path below files/.
std::string image_path(std::string_view dicom_id, std::uint32_t patient, std::uint32_t study, std::string_view where) {
  const bool is_name = !dicom_id.empty() && !dicom_id.starts_with('.') &&
                       dicom_id.find('/') == std::string_view::npos && !has_control_character(dicom_id);
  if (!is_name) throw DataError(fmt::format("{}: '{}' is not the name of an image", where, printable(dicom_id)));
  const std::string number = fmt::to_string(patient);
  return fmt::format("p{}/p{}/s{}/{}.jpg", number.substr(0, 2), number, study, dicom_id);
}

void read_images(const TableText& table, const StudyLabels& labels, Index& index) {
  TableRows rows(table.text(), table.path());
  const std::size_t image = rows.column("dicom_id"), study = rows.column("study_id");
  const std::size_t patient = rows.column("subject_id"), split = rows.column("split");
  std::size_t unlabelled = 0;
  while (rows.next()) {
    const std::uint32_t study_number = number_in(rows, study);
    const auto found = labels.find(study_number);
    if (found == labels.end()) {
      ++unlabelled;
      continue;
    }
    IndexRow& row = index.rows.emplace_back();
    row.patient = number_in(rows, patient);
    row.name = index.names.keep(image_path(rows.fields()[image], row.patient, study_number, rows.where()));
    row.labels = found->second;
    bool IndexRow::*const in_split = split_of(rows.fields()[split], rows.where());
    row.*in_split = true;
    note_split(in_split, index);
  }
  if (unlabelled > 0) {
    log::warning("{}: left out {} of studies without a row of labels", table.path(), count_text(unlabelled, "image"));
  }
}

}  // namespace

bool is_mimic_table(std::string_view name) { return is_table(name, kLabels); }

Index read_mimic_layout(const storage::DataRoot& root) {
  Index index;
  index.root = root.path;
  index.layout = spec::DataLayout::mimic;
  index.has_patients = index.has_unclear_labels = true;
  const std::string labels = required_table(root, kLabels), split = required_table(root, kSplit);
  index.table = labels;
  index.other_tables = {split};
  const StudyLabels of_study =
      read_labels(TableText(*root.store, labels), observation_labels(root.labels, "study_id"), index);
  read_images(TableText(*root.store, split), of_study, index);
  if (index.rows.empty()) throw DataError(fmt::format("{}: it names no image of a study that has labels", split));
  sort_rows(index.rows, split);
  return index;
}

std::vector<ImageFile> find_mimic_files(const storage::DataRoot& root, NameArena& names, PassedOver* passed) {
  return find_study_files(root, kMimicPathParts, names, passed);
}

}  // namespace chexbench::dataset
