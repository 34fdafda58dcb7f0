#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/dicom.hpp"
#include "dataset/index_report.hpp"

namespace chexbench::dataset {
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

// Returns why the number of patients is unknown, with the key that would tell it.
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

}  // namespace

std::string next_step(const IndexReport& report, const std::vector<std::string>& overrides) {
  std::string command = "chexbench --config configs/experiments/peers-input.json --set ";
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

std::string index_report_text(const IndexReport& report, std::size_t shown) {
  std::string text;
  const auto line = [&](std::string_view key, const auto& value) {
    const std::string words = fmt::format("{}: {}", key, value);
    text += printable(words, words.max_size()) + '\n';
  };
  line("root", report.root);
  line("table", report.table);
  line("layout", spec::to_string(report.layout));
  if (!report.layout_file.empty()) line("layout_file", report.layout_file);
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
  if (report.ignored_labels > 0) line("ignored_labels", report.ignored_labels);
  const auto split = [&](std::string_view name, const SplitCount& count) {
    line(fmt::format("split.{}.images", name), count.rows);
    line(fmt::format("split.{}.files", name), count.files);
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
  line("files.png", report.png_files);
  line("files.jpeg", report.files - report.png_files - report.dicom_files);
  if (report.dicom_files > 0) line("files.dicom", report.dicom_files);
  line("file_bytes", file_bytes(report));
  line("mean_file_bytes", report.mean_file_bytes() ? fmt::format("{:.0f}", *report.mean_file_bytes()) : "unknown");
  line("missing_files", counted(report.missing, shown));
  line("orphan_files", counted(report.orphans, shown));
  line("passed_over", report.passed.count());
  for (const auto& [kind, files] : report.passed.kinds())
    line(fmt::format("passed_over.{}", to_string(kind)), files_text(files, shown));
  for (const ShardCount& shards : report.shards) {
    line(fmt::format("shards.{}.{}", spec::to_string(shards.format), spec::to_string(shards.split)),
         shards.problem.empty() ? fmt::to_string(shards.count)
                                : fmt::format("{} (unusable: {})", shards.count, shards.problem));
  }
  if (report.shards.empty()) line("shards", 0);
  line("cached_files", counted(report.cached_files, shown));
  if (!report.next.empty()) line("next", report.next);
  return text;
}

}  // namespace chexbench::dataset
