#include "dataset/index_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/image_files.hpp"
#include "dataset/passed_over.hpp"
#include "formats/cached_file.hpp"
#include "formats/manifest.hpp"
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
  if (index.layout == spec::DataLayout::imagenet) return;  // the images are in the shards
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

// Notes the shards that are themselves the index.
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

namespace {

using OrderedJson = nlohmann::ordered_json;

template <class Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson labels_of(const IndexReport& report) {
  OrderedJson labels = OrderedJson::array();
  for (std::size_t i = 0; i < report.label_names.size(); ++i) {
    labels.push_back({{"name", report.label_names[i]}, {"images", report.label_rows[i]}});
  }
  return labels;
}

OrderedJson shards_of(const IndexReport& report) {
  OrderedJson all = OrderedJson::array();
  for (const ShardCount& shards : report.shards) {
    all.push_back({{"format", spec::to_string(shards.format)},
                   {"split", spec::to_string(shards.split)},
                   {"shards", shards.count},
                   {"problem", shards.problem.empty() ? OrderedJson(nullptr) : OrderedJson(shards.problem)}});
  }
  return all;
}

OrderedJson passed_of(const PassedOver& passed) {
  OrderedJson all = OrderedJson::array();
  for (const auto& [kind, files] : passed.kinds())
    all.push_back({{"kind", to_string(kind)}, {"files", files.count}, {"names", files.names}});
  return all;
}

}  // namespace

std::string index_report_json(const IndexReport& report) {
  const auto split = [](const SplitCount& count) {
    return OrderedJson{{"images", count.rows}, {"files", count.files}};
  };
  OrderedJson object = {
      {"root", report.root},
      {"table", report.table},
      {"layout", spec::to_string(report.layout)},
      {"layout_file", report.layout_file.empty() ? OrderedJson(nullptr) : OrderedJson(report.layout_file)},
      {"images", report.rows},
      {"patients", or_null(report.patients)}};
  if (report.layout == spec::DataLayout::nih) {
    object["median_age_years"] =
        report.median_age_years < 0 ? OrderedJson(nullptr) : OrderedJson(report.median_age_years);
    object["images_of_women"] = report.women;
    object["images_of_men"] = report.men;
  }
  object["labels"] = labels_of(report);
  object["images_without_label"] = report.no_finding;
  object["ignored_labels"] = report.ignored_labels;
  object["splits"] = {{"train", split(report.train)}, {"val", split(report.val)}, {"test", split(report.test)}};
  object["images_in_no_split"] = report.in_no_split;
  object["images_in_both_splits"] = report.in_both_lists;
  object["patients_in_both_splits"] = or_null(report.patients_in_both_splits);
  object["listed_without_row"] = report.listed_without_row;
  object["files"] = report.files;
  object["png_files"] = report.png_files;
  object["jpeg_files"] = report.files - report.png_files - report.dicom_files;
  object["dicom_files"] = report.dicom_files;
  object["files_of_known_size"] = report.files_of_known_size;
  object["file_bytes"] = report.file_bytes;
  object["mean_file_bytes"] = or_null(report.mean_file_bytes());
  object["missing_files"] = report.missing;
  object["orphan_files"] = report.orphans;
  object["passed_over"] = passed_of(report.passed);
  object["shards"] = shards_of(report);
  object["cached_files"] = report.cached_files;
  object["next"] = report.next;
  return formats::json_file_text(object);
}

namespace {

template <typename T>
std::string counted(const std::vector<T>& items, std::size_t shown) {
  if (items.empty() || shown == 0) return fmt::to_string(items.size());
  std::string first;
  for (const T& item : std::span(items).first(std::min(shown, items.size()))) {
    first += (first.empty() ? "" : ", ") + printable(fmt::to_string(item));
  }
  return fmt::format("{} ({}{})", items.size(), first, items.size() > shown ? ", ..." : "");
}

// Returns why the number of patients is unknown, with the key that would define it.
std::string unknown_patients(const IndexReport& report) {
  if (report.layout == spec::DataLayout::folders) return "unknown (folders do not say whose images they hold)";
  if (report.layout == spec::DataLayout::imagenet)
    return "unknown (shards of ImageNet do not say whose images they hold)";
  if (report.likely_patient_column.empty()) return "unknown (data.labels.patient_column is not set)";
  return fmt::format("unknown (data.labels.patient_column is not set; it may be '{}')",
                     printable(report.likely_patient_column));
}

std::string file_bytes(const IndexReport& report) {
  if (report.files_of_known_size == report.files) return fmt::to_string(report.file_bytes);
  return fmt::format("{} (without {} files whose size the store does not report)", report.file_bytes,
                     report.files - report.files_of_known_size);
}

// Returns "24 images of 16 patients, 14 labels (nih): 18 train, 6 test; 3 missing files".
std::string headline(const IndexReport& report) {
  std::string text = count_text(report.rows, "image");
  if (report.patients) text += " of " + count_text(*report.patients, "patient");
  text += fmt::format(", {} ({})", count_text(report.label_names.size(), "label"), spec::to_string(report.layout));
  std::vector<std::string> parts;
  const auto part = [&](std::size_t count, std::string_view name) {
    if (count > 0) parts.push_back(fmt::format("{} {}", grouped(count), name));
  };
  part(report.train.rows, "train");
  part(report.val.rows, "val");
  part(report.test.rows, "test");
  if (!parts.empty()) text += fmt::format(": {}", fmt::join(parts, ", "));
  parts.clear();
  part(report.missing.size(), report.missing.size() == 1 ? "missing file" : "missing files");
  part(report.orphans.size(), report.orphans.size() == 1 ? "file without a row" : "files without a row");
  const std::size_t shared = report.patients_in_both_splits ? report.patients_in_both_splits->size() : 0;
  part(shared, shared == 1 ? "patient in both splits" : "patients in both splits");
  return text + (parts.empty() ? "" : fmt::format("; {}", fmt::join(parts, ", ")));
}

}  // namespace

std::string next_step(const IndexReport& report, const std::vector<std::string>& overrides) {
  std::string command = "chexbench --config peers-input --set ";
  command += shell_word("data.root=" + report.root);
  for (const std::string& override : overrides) command += " --set " + shell_word(override);
  if (report.has_images()) return command;
  const auto usable = std::ranges::find_if(report.shards, [](const ShardCount& s) { return s.problem.empty(); });
  if (!report.dicom_file.empty()) {
    return fmt::format("{} is a DICOM file, {}", printable(report.dicom_file), dicom_advice());
  }
  if (usable == report.shards.end()) return "add the image files, because no row has one, and run this command again";
  return command + fmt::format(" --set data.format={} --set data.split={}", spec::to_string(usable->format),
                               spec::to_string(usable->split));
}

std::string index_report_text(const IndexReport& report, std::size_t shown, bool brief) {
  std::string text = headline(report) + "\n";
  const auto line = [&](std::string_view key, const auto& value) {
    std::string name(key);
    if (brief)
      std::ranges::replace_if(
          name, [](char c) { return c == '_' || c == '.'; }, ' ');
    const std::string words = fmt::format("{}: {}", name, value);
    text += printable(words, words.max_size()) + '\n';
  };
  const auto detail = [&](std::string_view key, const auto& value) {
    if (!brief) line(key, value);
  };
  const auto unless_zero = [&](std::string_view key, const auto& value) {
    if (!brief || fmt::to_string(value) != "0") line(key, value);
  };
  line("root", report.root);
  line("table", report.table);
  detail("layout", spec::to_string(report.layout));
  if (!report.layout_file.empty()) line("layout_file", report.layout_file);
  detail("images", report.rows);
  detail("patients", report.patients ? fmt::to_string(*report.patients) : unknown_patients(report));
  const bool is_nih = report.layout == spec::DataLayout::nih;
  if (is_nih) {
    detail("median_age_years",
           report.median_age_years < 0 ? "unknown" : fmt::format("{:.1f}", report.median_age_years));
    detail("images_of_women", report.women);
    detail("images_of_men", report.men);
  }
  detail("labels", report.label_names.size());
  detail(is_nih ? "label.No_Finding" : "images_without_label", report.no_finding);
  for (std::size_t f = 0; f < report.label_names.size(); ++f) {
    detail(fmt::format("label.{}", printable(report.label_names[f])), report.label_rows[f]);
  }
  if (report.ignored_labels > 0) line("ignored_labels", report.ignored_labels);
  const auto split = [&](std::string_view name, const SplitCount& count) {
    detail(fmt::format("split.{}.images", name), count.rows);
    detail(fmt::format("split.{}.files", name), count.files);
  };
  split("train", report.train);
  if (!is_nih) split("val", report.val);
  split("test", report.test);
  unless_zero("images_in_no_split", report.in_no_split);
  unless_zero("images_in_both_splits", report.in_both_lists);
  unless_zero("patients_in_both_splits", report.patients_in_both_splits
                                             ? counted(*report.patients_in_both_splits, shown)
                                             : unknown_patients(report));
  unless_zero("listed_without_row", counted(report.listed_without_row, shown));
  detail("files", report.files);
  detail("files.png", report.png_files);
  detail("files.jpeg", report.files - report.png_files - report.dicom_files);
  if (report.dicom_files > 0) detail("files.dicom", report.dicom_files);
  detail("file_bytes", file_bytes(report));
  detail("mean_file_bytes", report.mean_file_bytes() ? fmt::format("{:.0f}", *report.mean_file_bytes()) : "unknown");
  unless_zero("missing_files", counted(report.missing, shown));
  unless_zero("orphan_files", counted(report.orphans, shown));
  detail("passed_over", report.passed.count());
  for (const auto& [kind, files] : report.passed.kinds())
    unless_zero(brief ? fmt::format("not read ({})", kind_text(kind)) : fmt::format("passed_over.{}", to_string(kind)),
                files_text(files, shown));
  for (const ShardCount& shards : report.shards) {
    unless_zero(fmt::format("shards.{}.{}", spec::to_string(shards.format), spec::to_string(shards.split)),
                shards.problem.empty() ? fmt::to_string(shards.count)
                                       : fmt::format("{} (unusable: {})", shards.count, shards.problem));
  }
  if (report.shards.empty()) detail("shards", 0);
  unless_zero("cached_files", counted(report.cached_files, shown));
  if (!report.next.empty()) line("next", report.next);
  return brief ? text + "details: --explain lists all counts\n" : text;
}

}  // namespace chexbench::dataset
