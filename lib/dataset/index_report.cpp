#include "dataset/index_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/image_files.hpp"
#include "formats/shards.hpp"

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

void count_patients(const Index& index, IndexReport& report) {
  report.likely_patient_column = index.likely_patient_column;
  if (!index.has_patients) return;
  struct Seen {
    std::uint32_t patient;
    bool train, test;
  };
  std::vector<Seen> seen;
  seen.reserve(index.rows.size());
  for (const IndexRow& row : index.rows) seen.push_back({row.patient, row.in_train, row.in_test});
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.patient < b.patient; });
  const auto name_of = [&](std::uint32_t patient) {
    return index.patient_names.empty() ? fmt::to_string(patient) : index.patient_names[patient];
  };
  report.patients = 0;
  report.patients_in_both_splits.emplace();
  for (auto first = seen.begin(); first != seen.end();) {
    Seen all = *first;
    for (; first != seen.end() && first->patient == all.patient; ++first) {
      all.train |= first->train;
      all.test |= first->test;
    }
    ++*report.patients;
    if (all.train && all.test) report.patients_in_both_splits->push_back(name_of(all.patient));
  }
}

// Rows and files are both in the order of names.
void match_files(const storage::DataRoot& root, const Index& index, IndexReport& report) {
  const std::vector<ImageFile> files = find_files(root, index);
  report.files = files.size();
  auto file = files.begin();
  for (const IndexRow& row : index.rows) {
    for (; file != files.end() && file->name < row.name; ++file) report.orphans.push_back(file->name);
    if (file == files.end() || file->name != row.name) {
      report.missing.push_back(row.name);
      continue;
    }
    report.train.files += row.in_train ? 1 : 0;
    report.val.files += row.in_val ? 1 : 0;
    report.test.files += row.in_test ? 1 : 0;
    ++file;
  }
  for (; file != files.end(); ++file) report.orphans.push_back(file->name);
  for (const ImageFile& image : files) report.file_bytes += image.bytes.value_or(0);
}

template <typename T>
std::string counted(const std::vector<T>& items, std::size_t shown) {
  if (items.empty() || shown == 0) return fmt::to_string(items.size());
  std::string first;
  for (const T& item : std::span(items).first(std::min(shown, items.size()))) {
    first += (first.empty() ? "" : ", ") + printable(fmt::to_string(item));
  }
  return fmt::format("{} ({}{})", items.size(), first, items.size() > shown ? ", ..." : "");
}

// Returns why the number of patients is unknown, with the key that would tell it.
std::string unknown_patients(const IndexReport& report) {
  if (report.layout == spec::DataLayout::folders) return "unknown (folders do not say whose images they hold)";
  if (report.likely_patient_column.empty()) return "unknown (data.labels.patient_column is not set)";
  return fmt::format("unknown (data.labels.patient_column is not set; it may be '{}')",
                     printable(report.likely_patient_column));
}

}  // namespace

IndexReport report_index(const storage::DataRoot& root) {
  const Index index = read_index(root);
  IndexReport report{.root = root.path, .table = index.table, .layout = index.layout, .rows = index.rows.size()};
  report.label_names = index.label_names;
  report.label_rows.resize(index.label_names.size());
  report.listed_without_row = index.listed_without_row;
  count_rows(index, report);
  count_patients(index, report);
  match_files(root, index, report);
  report.val.shards = static_cast<std::size_t>(formats::present_shard_count(root, spec::Split::val).value_or(0));
  report.train.shards = static_cast<std::size_t>(formats::present_shard_count(root, spec::Split::train).value_or(0));
  report.test.shards = static_cast<std::size_t>(formats::present_shard_count(root, spec::Split::test).value_or(0));
  return report;
}

std::string index_report_text(const IndexReport& report, std::size_t shown) {
  std::string text;
  const auto line = [&](std::string_view key, const auto& value) {
    const std::string words = fmt::format("{}: {}", key, value);
    text += printable(words, words.max_size()) + '\n';
  };
  line("root", report.root);
  line("table", report.table);
  line("layout", spec::to_string(report.layout));
  line("images", report.rows);
  line("patients", report.patients ? fmt::to_string(*report.patients) : unknown_patients(report));
  const bool is_nih = report.layout == spec::DataLayout::nih;
  if (is_nih) {
    line("median_age_years", report.median_age_years < 0 ? "unknown" : fmt::format("{:.1f}", report.median_age_years));
    line("images_of_women", report.women);
    line("images_of_men", report.men);
  }
  line("labels", report.label_names.size());
  line(is_nih ? "label.No_Finding" : "images_without_label", report.no_finding);
  for (std::size_t f = 0; f < report.label_names.size(); ++f) {
    line(fmt::format("label.{}", printable(report.label_names[f])), report.label_rows[f]);
  }
  const auto split = [&](std::string_view name, const SplitCount& count) {
    line(fmt::format("split.{}.images", name), count.rows);
    line(fmt::format("split.{}.files", name), count.files);
    line(fmt::format("split.{}.shards", name), count.shards);
  };
  split("train", report.train);
  if (!is_nih) split("val", report.val);
  split("test", report.test);
  line("images_in_no_split", report.in_no_split);
  line("images_in_both_splits", report.in_both_lists);
  line("patients_in_both_splits",
       report.patients_in_both_splits ? counted(*report.patients_in_both_splits, shown) : unknown_patients(report));
  line("listed_without_row", counted(report.listed_without_row, shown));
  line("files", report.files);
  line("file_bytes", report.file_bytes);
  line("missing_files", counted(report.missing, shown));
  line("orphan_files", counted(report.orphans, shown));
  return text;
}

}  // namespace chexbench::dataset
