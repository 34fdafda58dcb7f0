#include "dataset/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/conversions.hpp"
#include "dataset/dataset.hpp"
#include "dataset/image_files.hpp"
#include "dataset/layouts.hpp"
#include "dataset/passed_over.hpp"
#include "dataset/table_rows.hpp"
#include "spec/folder_file.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrainList = "train_val_list.txt";
constexpr std::string_view kTestList = "test_list.txt";

// The positions of the columns that are read. All other columns are ignored.
struct Columns {
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  std::size_t image = kAbsent;
  std::size_t labels = kAbsent;
  std::size_t patient = kAbsent;
  std::size_t age = kAbsent;
  std::size_t sex = kAbsent;
  std::size_t last_required = 0;
};

// Each bracket in the header contains one comma and covers two columns of data, so a plain split at commas gives the
// same columns as in the data rows.
Columns read_header(const std::vector<std::string>& names, const std::string& table) {
  Columns columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "Image Index") columns.image = i;
    if (names[i] == "Finding Labels") columns.labels = i;
    if (names[i] == "Patient ID") columns.patient = i;
    if (names[i] == "Patient Age") columns.age = i;
    if (names[i] == "Patient Sex" || names[i] == "Patient Gender") columns.sex = i;
  }
  const auto require = [&](std::size_t column, std::string_view name) {
    if (column == Columns::kAbsent) {
      throw DataError(
          fmt::format("{}:1: the header has no column '{}', so it is not a ChestX-ray14 table", table, name));
    }
    columns.last_required = std::max(columns.last_required, column);
  };
  require(columns.image, "Image Index");
  require(columns.labels, "Finding Labels");
  require(columns.patient, "Patient ID");
  return columns;
}

IndexRow read_row(const std::vector<std::string_view>& fields, const Columns& columns, std::string_view where,
                  NameArena& names) {
  if (fields.size() <= columns.last_required) {
    throw DataError(fmt::format("{}: the row has {} fields, expected at least {}", where, fields.size(),
                                columns.last_required + 1));
  }
  IndexRow row;
  row.name = names.keep(fields[columns.image]);
  // A name becomes part of a path, so nothing in a table may lead out of the root.
  if (!storage::is_one_name(row.name) || has_control_character(row.name)) {
    throw DataError(fmt::format("{}: '{}' is not the name of an image file", where, printable(row.name)));
  }
  row.labels = parse_labels(fields[columns.labels], where);
  const auto patient = parse_number<decltype(row.patient)>(fields[columns.patient]);
  if (!patient)
    throw DataError(fmt::format("{}: patient ID '{}' is not a number", where, printable(fields[columns.patient])));
  row.patient = *patient;
  if (columns.age < fields.size()) row.age_years = parse_age_years(fields[columns.age]).value_or(-1.0f);
  if (columns.sex < fields.size() && (fields[columns.sex] == "M" || fields[columns.sex] == "F")) {
    row.sex = fields[columns.sex].front();
  }
  return row;
}

std::vector<IndexRow> read_table(const TableText& table, NameArena& names) {
  std::vector<IndexRow> rows;
  rows.reserve(table.text().size() / 64);
  TableRows fields(table.text(), table.path(), RowWidth::any);
  const Columns columns = read_header(fields.names(), table.path());
  while (fields.next()) rows.push_back(read_row(fields.fields(), columns, fields.where(), names));
  return rows;
}

// Marks the rows that a split list names. Returns whether the list exists.
bool read_list(const storage::Store& store, Index& index, std::string_view file, bool IndexRow::*member) {
  const std::string path = fs::path(index.root) / file;
  if (!store.size(path)) return false;
  index.other_tables.push_back(path);
  const TableText list(store, path);
  LineReader lines(list.text());
  auto next = index.rows.begin();  // lists are usually sorted like the table, so the next row is tried first
  for (std::string_view line; lines.next(line);) {
    const std::string_view name = trimmed(line);
    if (name.empty()) continue;
    if (next == index.rows.end() || next->name != name) {
      next = std::lower_bound(index.rows.begin(), index.rows.end(), name,
                              [](const IndexRow& row, std::string_view wanted) { return row.name < wanted; });
    }
    if (next != index.rows.end() && next->name == name) {
      (*next++).*member = true;
    } else {
      index.listed_without_row.emplace_back(name);
    }
  }
  return true;
}

// The layout that a table indicates; with several tables, the first of these decides.
constexpr std::pair<TableKind, spec::DataLayout> kLayoutOfTable[] = {{TableKind::nih, spec::DataLayout::nih},
                                                                     {TableKind::mimic, spec::DataLayout::mimic},
                                                                     {TableKind::chexpert, spec::DataLayout::chexpert},
                                                                     {TableKind::own, spec::DataLayout::csv}};

// The possible contents of a root, for messages about roots without any of them.
constexpr std::string_view kLayouts =
    "images (PNG, JPEG, DICOM), a folder of images for each class, a CSV with your labels next to images, "
    "ChestX-ray14 (Data_Entry_2017.csv or a later edition, and images/), CheXpert (train.csv, valid.csv), "
    "MIMIC-CXR-JPG (mimic-cxr-*-chexpert.csv) or TensorFlow's shards of ImageNet (train-00000-of-01024) "
    "(data.layout folders, csv, nih, chexpert, mimic, imagenet)";

// @throws DataError if the root is not a folder, or cannot be read
void check_folder(const std::string& root) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::status_known(status)) {
    throw DataError(fmt::format("cannot read data set '{}': {}", root, error.message()));
  }
  if (fs::exists(status) && !fs::is_directory(status)) {
    const fs::path folder = fs::path(root).parent_path();
    throw DataError(fmt::format("no data set at '{}': it is a file; give the folder that holds the data set, as '{}'",
                                root, folder.empty() ? "." : folder.string()));
  }
  if (!fs::is_directory(status)) {
    throw DataError(
        fmt::format("no data set at '{}': no such folder{}; set data.root to a folder that holds {}, or make one with: "
                    "chexbench data synth {} --images 512",
                    root, nearest_path_suggestion(root), kLayouts, root.empty() ? "DIR" : shell_word(root)));
  }
}

bool is_split_folder(const storage::StoreEntry& entry) {
  return entry.kind == storage::StoreEntry::Kind::folder && split_called(entry.name) != nullptr;
}
bool is_image_file(const storage::StoreEntry& entry) {
  return entry.kind == storage::StoreEntry::Kind::file && !entry.name.starts_with('.') && is_image_name(entry.name);
}

// The contents of a folder in the root that decide whether it is a data set itself.
struct InnerFolder {
  std::string name;
  bool has_split = false;   // the folder of one
  bool has_known = false;   // the table of a published data set
  bool has_own = false;     // any other table
  bool has_images = false;  // directly
};

InnerFolder look_into(const storage::DataRoot& root, const std::string& name) {
  const std::string path = root.path + "/" + name;
  const std::vector<storage::StoreEntry> entries = root.store->list(path);
  InnerFolder folder{.name = name};
  if (is_results_folder(entries)) return folder;
  const std::vector<FoundTable> tables = find_tables(*root.store, path, entries);
  folder.has_split = std::ranges::any_of(entries, is_split_folder);
  folder.has_own = has_kind(tables, TableKind::own);
  folder.has_known =
      has_kind(tables, TableKind::nih) || has_kind(tables, TableKind::mimic) || has_kind(tables, TableKind::chexpert);
  folder.has_images = std::ranges::any_of(entries, is_image_file);
  return folder;
}

// Returns the name of the one folder in the root that is a data set itself, because it contains a table or the folder
// of a split, or "" if none or several are. A user's own table may also be in the folder of a class, next to its
// images. A root with many folders contains classes, and its folders are not searched.
std::string only_set_inside(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries) {
  constexpr std::ptrdiff_t kMostFolders = 16;
  if (std::ranges::count(entries, storage::StoreEntry::Kind::folder, &storage::StoreEntry::kind) > kMostFolders ||
      std::ranges::any_of(entries, is_split_folder))
    return "";
  std::vector<InnerFolder> folders;
  for (const storage::StoreEntry& entry : entries) {
    if (entry.kind == storage::StoreEntry::Kind::folder && !entry.name.starts_with('.'))
      folders.push_back(look_into(root, entry.name));
  }
  const bool are_classes = std::ranges::count(folders, true, &InnerFolder::has_images) > 1;
  const auto is_set = [&](const InnerFolder& folder) {
    return folder.has_split || folder.has_known || (folder.has_own && !(are_classes && folder.has_images));
  };
  if (std::ranges::count_if(folders, is_set) != 1) return "";
  return std::ranges::find_if(folders, is_set)->name;
}

// Returns the path of the table, or that of the newest edition if there are several. @throws DataError if there is none
std::string find_nih_table(const storage::DataRoot& root, std::span<const FoundTable> tables) {
  std::string newest;
  for (const FoundTable& table : tables) {
    // The later edition is the corrected one, and its name is the larger: ..._2017.csv < ..._2017_v2020.csv.
    if (table.kind == TableKind::nih) newest = std::ranges::max(newest, table.name, {}, lower_case);
  }
  if (newest.empty()) {
    throw DataError(
        fmt::format("no label table in '{}': expected Data_Entry_2017.csv (or a later edition)", root.path));
  }
  return fs::path(root.path) / newest;
}

// Returns the paths of the files other than images that the index came from.
std::vector<const std::string*> used_files(const Index& index) {
  std::vector<const std::string*> used{&index.table};
  for (const std::string& table : index.other_tables) used.push_back(&table);
  for (const IndexShard& shard : index.shards) used.push_back(&shard.path);
  return used;
}

}  // namespace

bool IndexRow::in(spec::Split split) const {
  switch (split) {
    case spec::Split::train:
      return in_train;
    case spec::Split::val:
      return in_val;
    case spec::Split::test:
      return in_test;
    case spec::Split::all:
      break;
  }
  return true;
}

bool has_control_character(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

void sort_rows(std::vector<IndexRow>& rows, const std::string& table) {
  sort_by_name(rows);
  const auto same = [](const IndexRow& a, const IndexRow& b) { return a.name == b.name; };
  const auto twice = std::adjacent_find(rows.begin(), rows.end(), same);
  if (twice != rows.end())
    throw DataError(fmt::format("{}: '{}' has more than one row; keep one of them", table, printable(twice->name)));
}

FoundLayout find_layout(const storage::DataRoot& root) {
  if (root.store->is_local()) check_folder(root.path);
  const std::vector<storage::StoreEntry> entries = root.store->list(root.path);
  if (entries.empty() && !root.store->is_local()) {
    throw DataError(fmt::format("no data set at '{}': nothing is there; set data.root to the place that holds {}",
                                root.path, kLayouts));
  }
  const bool needs_tables = root.layout == spec::DataLayout::automatic || root.layout == spec::DataLayout::nih ||
                            root.layout == spec::DataLayout::csv;
  if (!needs_tables) return {root.layout, {}};
  std::vector<FoundTable> tables = find_tables(*root.store, root.path, entries);
  if (root.layout != spec::DataLayout::automatic) return {root.layout, std::move(tables)};
  for (const auto& [kind, layout] : kLayoutOfTable)
    if (has_kind(tables, kind)) return {layout, std::move(tables)};
  refuse_folder_of_format(root, entries);
  if (has_imagenet_shards(root, entries)) return {spec::DataLayout::imagenet, {}};
  if (const std::string inside = only_set_inside(root, entries); !inside.empty()) {
    throw DataError(
        fmt::format("'{}' holds no table, but '{}' in it is a data set: set data.root to {}/{}, or "
                    "data.layout to folders if the folders in {} are classes",
                    root.path, printable(inside), root.path, printable(inside), root.path));
  }
  const auto may_hold_images = [](const storage::StoreEntry& e) {
    return e.kind == storage::StoreEntry::Kind::folder || is_image_name(e.name);
  };
  if (std::ranges::any_of(entries, may_hold_images)) return {spec::DataLayout::folders, {}};
  if (entries.empty()) throw DataError(fmt::format("'{}' is empty: expected {}", root.path, kLayouts));
  throw DataError(fmt::format("no images and no label table in '{}': expected {}{}{}", root.path, kLayouts,
                              dicom_hint(root), shards_hint(root)));
}

LabelBits parse_labels(std::string_view field, std::string_view where) {
  LabelBits labels;
  while (!field.empty()) {
    const std::size_t bar = std::min(field.find('|'), field.size());
    const std::string_view name = trimmed(field.substr(0, bar));
    field.remove_prefix(std::min(bar + 1, field.size()));
    if (name == kNoFinding) continue;
    const auto* const found = std::find(kNihLabelNames.begin(), kNihLabelNames.end(), name);
    if (found == kNihLabelNames.end()) {
      std::vector<std::string> known(kNihLabelNames.begin(), kNihLabelNames.end());
      known.emplace_back(kNoFinding);
      const std::string shown = printable(name);
      throw DataError(fmt::format("{}: unknown finding '{}'{}", where, shown, suggestion(shown, known)));
    }
    labels.set(static_cast<std::size_t>(found - kNihLabelNames.begin()));
  }
  return labels;
}

std::string labels_text(const LabelBits& labels) { return labels_text(labels, nih_label_names()); }

std::string labels_text(const LabelBits& labels, std::span<const std::string> names) {
  std::string text;
  for (std::size_t f = 0; f < names.size(); ++f) {
    if (!labels.has(f)) continue;
    if (!text.empty()) text += '|';
    text += names[f];
  }
  return text.empty() ? std::string(kNoFinding) : text;
}

std::optional<float> parse_age_years(std::string_view field) {
  const auto value = take_number<unsigned>(field);  // leaves the unit
  if (!value) return std::nullopt;
  const auto years = static_cast<float>(*value);
  if (field.empty() || field == "Y") return years;
  if (field == "M") return years / 12.0f;
  if (field == "D") return years / 365.25f;
  return std::nullopt;
}

Index read_index(const storage::DataRoot& root) {
  const auto [layout, tables] = find_layout(root);
  switch (layout) {
    case spec::DataLayout::csv:
      return read_csv_layout(root, tables);
    case spec::DataLayout::folders:
      return read_folder_layout(root);
    case spec::DataLayout::chexpert:
      return read_chexpert_layout(root);
    case spec::DataLayout::mimic:
      return read_mimic_layout(root);
    case spec::DataLayout::imagenet:
      return read_imagenet_layout(root);
    default:
      return read_nih_layout(root, tables);
  }
}

std::vector<ImageFile> find_files(const storage::DataRoot& root, const Index& index, NameArena& names,
                                  PassedOver* passed) {
  if (passed != nullptr) {
    passed->use(spec::kFolderFileName);
    for (const std::string* const used : used_files(index))
      passed->use(std::string_view(*used).substr(std::min(root.path.size() + 1, used->size())));
  }
  switch (index.layout) {
    case spec::DataLayout::csv:
      return match_files(index, list_images(*root.store, root.path, names, passed));
    case spec::DataLayout::folders:
      if (passed != nullptr) *passed = index.passed;
      return index.files;
    case spec::DataLayout::chexpert:
      return find_chexpert_files(root, names, passed);
    case spec::DataLayout::mimic:
      return find_mimic_files(root, names, passed);
    case spec::DataLayout::imagenet:
      if (passed == nullptr) return {};
      for (const ImageFile& file : list_images(*root.store, root.path, names, passed))
        passed->add(PassedKind::not_in_a_class, file.name);
      return {};
    default:
      return find_nih_files(root, index, names, passed);
  }
}

Index read_nih_layout(const storage::DataRoot& root, std::span<const FoundTable> tables) {
  Index index;
  index.root = root.path;
  index.table = find_nih_table(root, tables);
  index.label_names = nih_label_names();
  index.rows = read_table(TableText(*root.store, index.table), index.names);
  sort_rows(index.rows, index.table);
  index.has_train_list = read_list(*root.store, index, kTrainList, &IndexRow::in_train);
  index.has_patients = true;
  index.has_test_list = read_list(*root.store, index, kTestList, &IndexRow::in_test);
  return index;
}

}  // namespace chexbench::dataset
