#include <nlohmann/json.hpp>

#include "dataset/index_report.hpp"
#include "formats/json_file.hpp"

namespace chexbench::dataset {
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

}  // namespace chexbench::dataset
