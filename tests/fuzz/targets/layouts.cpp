// The tables of data sets: ChestX-ray14's, CheXpert's, MIMIC-CXR's, the user's own, folders of classes, and the names
// of files that rows mean.
#include <algorithm>

#include "dataset/index.hpp"
#include "dataset/label_columns.hpp"
#include "dataset/table_rows.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"

namespace chexbench::fuzz {
namespace {

// Reads data.labels from the first lines of the input.
spec::LabelsSpec labels_spec(Input& input) {
  spec::LabelsSpec labels;
  labels.columns = input.line();
  labels.separator = input.line();
  labels.none = input.line();
  labels.image_column = input.line();
  labels.split_column = input.line();
  labels.patient_column = input.line();
  return labels;
}

void check_index(const dataset::Index& index) {
  require(!index.rows.empty(), "an index has no rows");
  for (std::size_t i = 0; i < index.rows.size(); ++i) {
    const dataset::IndexRow& row = index.rows[i];
    require(i == 0 || index.rows[i - 1].name < row.name, "rows are not in the order of unique names");
    require(!row.name.empty() && row.name.front() != '/' && row.name != ".." && !row.name.starts_with("../") &&
                row.name.find("/../") == std::string::npos,
            "a row's name leads out of the root");
    row.labels.for_each(
        [&index](std::size_t label) { require(label < index.label_names.size(), "a row has a label without a name"); });
    require(index.patient_names.empty() || row.patient < index.patient_names.size(), "a patient has no name");
  }
}

// Reads the index of a root with these files, and the files that its rows mean.
void read_root(const spec::DataSpec& spec, std::map<std::string, Bytes> files) {
  const storage::DataRoot root(spec, std::make_shared<MemoryStore>(std::move(files)));
  accepted({ExitCode::data, ExitCode::spec}, [&] {
    const dataset::Index index = dataset::read_index(root);
    if (index.layout != spec::DataLayout::nih || !index.rows.empty()) check_index(index);
    dataset::NameArena names;
    const std::vector<dataset::ImageFile> found = dataset::find_files(root, index, names);
    require(std::ranges::is_sorted(found, {}, &dataset::ImageFile::name), "files are not in the order of names");
    return true;
  });
}

// A plain twin of dataset::fits(): tries every length for each star.
bool fits_plainly(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*')
    return !name.empty() && pattern.front() == name.front() && fits_plainly(pattern.substr(1), name.substr(1));
  for (std::size_t skipped = 0; skipped <= name.size(); ++skipped) {
    if (fits_plainly(pattern.substr(1), name.substr(skipped))) return true;
  }
  return false;
}

}  // namespace

FUZZ_TARGET(csv_layout, "dataset/csv_layout.cpp dataset/label_columns.cpp dataset/match_files.cpp") {
  Input input(bytes);
  const spec::LabelsSpec labels = labels_spec(input);
  read_root({.root = "root", .layout = spec::DataLayout::csv, .labels = labels}, {{"root/labels.csv", input.rest()},
                                                                                  {"root/a.png", {}},
                                                                                  {"root/b/c.jpg", {}},
                                                                                  {"root/b/a.PNG", {}},
                                                                                  {"root/.hidden.png", {}}});
}

FUZZ_TARGET(nih_layout, "dataset/index.cpp dataset/image_files.cpp") {
  Input input(bytes);
  const std::string list = input.line();
  std::string lines = list;
  std::ranges::replace(lines, '|', '\n');
  const Bytes listed = std::as_bytes(std::span(lines));
  read_root({.root = "root", .layout = spec::DataLayout::nih}, {{"root/Data_Entry_2017.csv", input.rest()},
                                                                {"root/train_val_list.txt", listed},
                                                                {"root/test_list.txt", listed},
                                                                {"root/images/a.png", {}},
                                                                {"root/images_001/images/b.png", {}}});
}

// The first byte selects the meaning of -1 and blanks.
FUZZ_TARGET(chexpert_layout, "dataset/chexpert_layout.cpp dataset/label_columns.cpp dataset/table_rows.cpp") {
  Input input(bytes);
  const auto meaning = static_cast<spec::UnclearLabel>(input.byte() % 4);
  const spec::LabelsSpec labels{.columns = input.line(), .uncertain = meaning, .blank = meaning};
  read_root({.root = "root", .layout = spec::DataLayout::chexpert, .labels = labels},
            {{"root/train.csv", input.rest()},
             {"root/train/patient00001/study1/view1_frontal.jpg", {}},
             {"root/valid/patient2/study1/view1_frontal.png", {}}});
}

// The first line is the table of labels, with '|' between its lines; the rest is that of splits.
FUZZ_TARGET(mimic_layout, "dataset/mimic_layout.cpp dataset/label_columns.cpp dataset/table_rows.cpp") {
  Input input(bytes);
  const std::string labels = input.line();
  std::string lines = labels;
  std::ranges::replace(lines, '|', '\n');
  read_root({.root = "root", .layout = spec::DataLayout::mimic, .labels = {.columns = "Edema"}},
            {{"root/mimic-cxr-2.0.0-chexpert.csv", std::as_bytes(std::span(lines))},
             {"root/mimic-cxr-2.0.0-split.csv", input.rest()},
             {"root/files/p10/p10000032/s50414267/a.jpg", {}}});
}

// A compressed table; only its text is used.
FUZZ_TARGET(packed_table, "dataset/table_rows.cpp") {
  const MemoryStore store({{"root/labels.csv.gz", bytes}});
  accepted({ExitCode::data}, [&] { return dataset::TableText(store, "root/labels.csv.gz").text().size(); });
}

// Each line is the path of a file in the root.
FUZZ_TARGET(folder_layout, "dataset/folder_layout.cpp dataset/image_files.cpp") {
  std::map<std::string, Bytes> files;
  for (Input input(bytes); !input.rest().empty() && files.size() < 30;) files.emplace("root/" + input.line(), Bytes());
  read_root({.root = "root", .layout = spec::DataLayout::automatic}, files);
}

FUZZ_TARGET(label_columns, "dataset/label_columns.cpp") {
  Input input(bytes);
  const spec::LabelsSpec labels = labels_spec(input);
  const std::string header = input.line();
  const auto columns = accepted({ExitCode::spec, ExitCode::data}, [&] {
    return dataset::find_columns(dataset::TableRows(header, "labels.csv"), labels, "labels.csv");
  });
  if (columns) {
    require(columns->image < columns->count && columns->split.value_or(0) < columns->count &&
                columns->patient.value_or(0) < columns->count,
            "a column is beyond the header");
    require(columns->labels.size() == columns->label_names.size() && !columns->labels.empty(), "labels lack names");
  }
  const auto stars = std::ranges::count(labels.columns, '*');
  if (stars <= 4 && header.size() <= 40) {
    require(dataset::fits(labels.columns, header) == fits_plainly(labels.columns, header),
            "a pattern and its plain twin differ");
  }
}

}  // namespace chexbench::fuzz
