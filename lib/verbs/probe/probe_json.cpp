#include <nlohmann/json.hpp>

#include "results/labels.hpp"
#include "verbs/probe/probe_result.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;

Json interval_to_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json way_to_json(const ProbedWay& way) {
  Json object = {{"way", way.name},
                 {"settings", way.settings},
                 {"images_per_s", way.images_per_s},
                 {"ci95", interval_to_json(way.ci95)},
                 {"repeats", way.repeats},
                 {"ratio", nullptr},
                 {"grade", results::to_string(way.grade)}};
  if (way.ratio) object["ratio"] = {{"value", way.ratio->value}, {"ci95", interval_to_json(way.ratio->ci95)}};
  return object;
}

Json accelerator_to_json(const FedAccelerator& accelerator) {
  return {{"name", accelerator.name},
          {"device", accelerator.device},
          {"model", "resnet50"},
          {"precision", spec::to_string(accelerator.precision)},
          {"images_per_s", accelerator.images_per_s},
          {"share", accelerator.share},
          {"count", accelerator.count},
          {"count_ci95", Json::array({accelerator.count_low, accelerator.count_high})}};
}

const char* holdup_word(Holdup holdup) {
  switch (holdup) {
    case Holdup::cores:
      return "cores";
    case Holdup::read:
      return "read";
    case Holdup::op:
      break;
  }
  return "op";
}

Json limit_to_json(const ProbeResult& result) {
  return {{"holdup", holdup_word(result.holdup)},
          {"wait_op", result.wait_op},
          {"wait_part", result.wait_part},
          {"cores_busy_share", result.cores_busy_share},
          {"read_share", result.work.read},
          {"decode_share", result.work.decode},
          {"resize_share", result.work.resize},
          {"other_share", result.work.other},
          {"cached_share", result.cached_share ? Json(*result.cached_share) : Json(nullptr)}};
}

template <class Item>
Json list_of(const std::vector<Item>& items, Json (*to_json)(const Item&)) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

std::string probe_json(const ProbeResult& result) {
  const bool is_measured = !result.ways.empty();
  const Json object = {{"root", result.root},
                       {"layout", spec::to_string(result.layout)},
                       {"images", result.images},
                       {"files", result.files},
                       {"png_files", result.png_files},
                       {"mean_file_bytes", result.mean_file_bytes ? Json(*result.mean_file_bytes) : Json(nullptr)},
                       {"ranks", result.ranks},
                       {"cores", is_measured ? Json(result.cores) : Json(nullptr)},
                       {"images_per_s_per_core", is_measured ? Json(result.images_per_s_per_core) : Json(nullptr)},
                       {"time_s", result.time_s},
                       {"time_was_up", result.time_was_up},
                       {"partial", result.stopped_after_s.has_value()},
                       {"stopped_after_s", result.stopped_after_s ? Json(*result.stopped_after_s) : Json(nullptr)},
                       {"bad_records", result.bad_records},
                       {"passed_over", result.passed_files},
                       {"ways", list_of(result.ways, way_to_json)},
                       {"limit", is_measured ? limit_to_json(result) : Json(nullptr)},
                       {"disturbance", result.disturbance.empty() ? Json(nullptr) : Json(result.disturbance)},
                       {"cpu_limit", result.cpu_limit.empty() ? Json(nullptr) : Json(result.cpu_limit)},
                       {"accelerators", list_of(result.accelerators, accelerator_to_json)},
                       {"folder", result.folder.empty() ? Json(nullptr) : Json(result.folder)},
                       {"spec", result.spec_file.empty() ? Json(nullptr) : Json(result.spec_file)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::verbs
