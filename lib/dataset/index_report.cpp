#include "dataset/index_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "dataset/dicom.hpp"
#include "dataset/image_files.hpp"
#include "formats/cached_file.hpp"
#include "formats/shards.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::dataset {
namespace {

void count_rows(const Index& index, IndexReport& report) {
  std::vector<float> ages;
  for (const IndexRow& row : index.rows) {
    if (row.age_years >= 0) ages.push_back(row.age_years);
    report.women += row.sex == 'F' ? 1 : 0;
    report.men += row.sex == 'M' ? 1 : 0;
    report.no_finding += row.labels.empty() ? 1 : 0;
    row.labels.for_each([&](std::size_t label) { ++report.label_rows[label]; });
    for (std::size_t label = 0; label < std::min(report.label_names.size(), LabelBits::kMostIgnored); ++label)
      report.ignored_labels += row.labels.is_ignored(label) ? 1 : 0;
    report.train.rows += row.in_train ? 1 : 0;
    report.val.rows += row.in_val ? 1 : 0;
    report.test.rows += row.in_test ? 1 : 0;
    const int splits = int{row.in_train} + int{row.in_val} + int{row.in_test};
    report.in_no_split += splits == 0 ? 1 : 0;
    report.in_both_lists += splits > 1 ? 1 : 0;
  }
  if (ages.empty()) return;
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  report.median_age_years = *middle;
}

// Calls visit(patient, in_train, in_test) once for each patient, ascending.
template <typename Visit>
void for_each_patient(const Index& index, Visit visit) {
  struct Seen {
    std::uint32_t patient;
    bool train, test;
  };
  std::vector<Seen> seen;
  seen.reserve(index.rows.size());
  for (const IndexRow& row : index.rows) seen.push_back({row.patient, row.in_train, row.in_test});
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.patient < b.patient; });
  for (auto first = seen.begin(); first != seen.end();) {
    Seen all = *first;
    for (; first != seen.end() && first->patient == all.patient; ++first) {
      all.train |= first->train;
      all.test |= first->test;
    }
    visit(all.patient, all.train, all.test);
  }
}

void count_patients(const Index& index, IndexReport& report) {
  report.likely_patient_column = index.likely_patient_column;
  report.patients_in_both_splits = patients_in_both_splits(index);
  if (!index.has_patients) return;
  report.patients = 0;
  for_each_patient(index, [&](std::uint32_t, bool, bool) { ++*report.patients; });
}

// Rows and files are both in the order of names.
void match_files(const storage::DataRoot& root, const Index& index, IndexReport& report) {
  NameArena names;
  const std::vector<ImageFile> files = find_files(root, index, names, &report.passed);
  if (index.layout == spec::DataLayout::imagenet) return;  // the shards hold the images
  report.files = files.size();
  auto file = files.begin();
  for (const IndexRow& row : index.rows) {
    for (; file != files.end() && file->name < row.name; ++file) report.orphans.emplace_back(file->name);
    if (file == files.end() || file->name != row.name) {
      report.missing.emplace_back(row.name);
      continue;
    }
    report.train.files += row.in_train ? 1 : 0;
    report.val.files += row.in_val ? 1 : 0;
    report.test.files += row.in_test ? 1 : 0;
    ++file;
  }
  for (; file != files.end(); ++file) report.orphans.emplace_back(file->name);
  for (const ImageFile& image : files) {
    report.png_files += is_png_name(image.path) ? 1 : 0;
    report.dicom_files += image::is_dicom_name(image.path) ? 1 : 0;
    report.files_of_known_size += image.bytes ? 1 : 0;
    report.file_bytes += image.bytes.value_or(0);
  }
}

// Notes the shards of one split in one format, if there are any.
void add_shards(const storage::DataRoot& root, spec::DataFormat format, spec::Split split, IndexReport& report) {
  ShardCount shards{.format = format, .split = split};
  try {
    const std::optional<int> count = formats::present_shard_count(root, split, format);
    if (!count) return;
    shards.count = static_cast<std::size_t>(*count);
    formats::find_shards(root, split, format);
  } catch (const DataError& error) {
    shards.problem = error.what();
  }
  report.shards.push_back(std::move(shards));
}

void find_conversions(const storage::DataRoot& root, IndexReport& report) {
  for (const auto format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
    if (root.store->list(formats::format_folder(root.path, format)).empty()) continue;  // saves requests to servers
    for (const auto split : {spec::Split::train, spec::Split::val, spec::Split::test, spec::Split::all}) {
      add_shards(root, format, split, report);
    }
  }
  for (storage::StoreEntry& entry : root.store->list(formats::format_folder(root.path, spec::DataFormat::cached))) {
    if (formats::is_cached_name(entry.name)) report.cached_files.push_back(std::move(entry.name));
  }
  std::ranges::sort(report.cached_files);
}

// Notes the shards that are the index themselves.
void add_own_shards(const Index& index, IndexReport& report) {
  const std::pair<spec::Split, bool IndexRow::*> splits[] = {{spec::Split::train, &IndexRow::in_train},
                                                             {spec::Split::val, &IndexRow::in_val},
                                                             {spec::Split::test, &IndexRow::in_test}};
  for (const auto& [split, member] : splits) {
    const auto count = static_cast<std::size_t>(std::ranges::count(index.shards, member, &IndexShard::split));
    if (count > 0) report.shards.push_back({.format = spec::DataFormat::tfrecord, .split = split, .count = count});
  }
}

}  // namespace

std::optional<std::vector<std::string>> patients_in_both_splits(const Index& index) {
  if (!index.has_patients) return std::nullopt;
  std::vector<std::string> names;
  for_each_patient(index, [&](std::uint32_t patient, bool in_train, bool in_test) {
    if (!in_train || !in_test) return;
    names.push_back(index.patient_names.empty() ? fmt::to_string(patient) : index.patient_names[patient]);
  });
  return names;
}

IndexReport report_index(const storage::DataRoot& root) {
  const Index index = read_index(root);
  IndexReport report{.root = root.path, .table = index.table, .layout = index.layout, .rows = index.rows.size()};
  report.label_names = index.label_names;
  report.label_rows.resize(index.label_names.size());
  report.listed_without_row = index.listed_without_row;
  count_rows(index, report);
  count_patients(index, report);
  match_files(root, index, report);
  find_conversions(root, report);
  add_own_shards(index, report);
  if (report.files == 0 && report.shards.empty() && report.cached_files.empty()) {
    report.dicom_file = find_dicom_file(root);
  }
  return report;
}

}  // namespace chexbench::dataset
