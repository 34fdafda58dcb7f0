#include <nlohmann/json.hpp>

#include "results/labels.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_to_json(const PredictionRow& row) {
  return {{"ranks", row.ranks},
          {"local_batch", row.local_batch},
          {"images_per_s", row.images_per_s},
          {"efficiency", row.efficiency},
          {"linear", row.linear()},
          {"accelerator_share", row.accelerator_share()},
          {"starves", row.starves()},
          {"wait_share", row.wait_share()},
          {"limit", row.limit},
          {"decode_images_per_s", or_null(row.decode_images_per_s)},
          {"decode_measured", row.decode_measured},
          {"storage_images_per_s", or_null(row.storage_images_per_s)},
          {"compute_images_per_s", row.compute_images_per_s},
          {"network_images_per_s", row.network_images_per_s},
          {"exposed_communication_share", row.exposed_communication_share},
          {"known_images_per_s", or_null(row.known_images_per_s)},
          {"fitted", row.fitted},
          {"step_time_computed", row.step_time_computed},
          {"extrapolated", row.extrapolated}};
}

Json requirement_to_json(const Requirement& needed) {
  return {{"ranks", needed.ranks},
          {"efficiency", needed.efficiency},
          {"images_per_s", needed.images_per_s},
          {"cores_per_rank", or_null(needed.cores_per_rank)},
          {"storage_bytes_per_s", or_null(needed.storage_bytes_per_s)},
          {"link_bytes_per_s", or_null(needed.link_bytes_per_s)},
          {"notes", needed.notes}};
}

Json arm_to_json(const PredictionArm& arm) {
  Json object = {{"name", arm.name},
                 {"pipeline", arm.pipeline},
                 {"format", arm.format},
                 {"model", arm.model},
                 {"image_size", arm.image_size},
                 {"precision", arm.precision},
                 {"batch_size", arm.batch_size},
                 {"profile", arm.profile},
                 {"accelerator", arm.accelerator},
                 {"source", arm.source},
                 {"speed_computed", arm.speed_computed},
                 {"scaling", arm.scaling},
                 {"alpha_s", arm.alpha_s},
                 {"beta_bytes_per_s", arm.beta_bytes_per_s},
                 {"launch_s", arm.launch_s},
                 {"fit_rms_error", or_null(arm.fit_rms_error)},
                 {"input_images_per_s_per_rank", or_null(arm.input_images_per_s_per_rank)},
                 {"cores_per_rank", or_null(arm.cores_per_rank)},
                 {"grade", results::to_string(arm.grade)},
                 {"notes", arm.notes},
                 {"rows", Json::array()},
                 {"requirement", arm.requirement ? requirement_to_json(*arm.requirement) : Json(nullptr)}};
  for (const PredictionRow& row : arm.rows) object["rows"].push_back(row_to_json(row));
  return object;
}

}  // namespace

std::string prediction_json(const Prediction& prediction) {
  Json object = {{"chexbench_version", prediction.chexbench_version}, {"predicted", true}, {"arms", Json::array()}};
  for (const PredictionArm& arm : prediction.arms) object["arms"].push_back(arm_to_json(arm));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::verbs
