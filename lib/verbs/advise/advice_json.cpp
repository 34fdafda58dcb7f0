#include <nlohmann/json.hpp>

#include "results/labels.hpp"
#include "verbs/advise/advice.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;

Json ratio_to_json(const std::optional<measure::Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"value", ratio->value},
          {"ci95", ratio->ci95 ? Json::array({ratio->ci95->low, ratio->ci95->high}) : Json(nullptr)}};
}

Json try_to_json(const AdviceTry& attempt) {
  return {{"edit", attempt.edit},
          {"why", attempt.why},
          {"saves_memory", attempt.saves_memory},
          {"predicted_ratio", attempt.predicted_ratio},
          {"ratio", ratio_to_json(attempt.ratio)},
          {"images_per_s", attempt.ratio ? Json(attempt.images_per_s) : Json(nullptr)},
          {"grade", attempt.ratio ? Json(results::to_string(attempt.grade)) : Json(nullptr)},
          {"kept", attempt.kept},
          {"replaced", attempt.replaced}};
}

}  // namespace

std::string advice_json(const Advice& advice) {
  Json object = {{"trial", advice.trial},
                 {"ranks", advice.ranks},
                 {"emulated", advice.emulated},
                 {"verdict", advice.verdict},
                 {"images_per_s_before", advice.images_per_s_before},
                 {"images_per_s_after", advice.images_per_s_after},
                 {"ratio", ratio_to_json(advice.ratio)},
                 {"grade", advice.ratio ? Json(results::to_string(advice.grade)) : Json(nullptr)},
                 {"withdrawn", advice.withdrawn},
                 {"out_of_time", advice.out_of_time},
                 {"tries", Json::array()}};
  for (const AdviceTry& attempt : advice.tries) object["tries"].push_back(try_to_json(attempt));
  return object.dump(2) + "\n";
}

}  // namespace chexbench::verbs
