// Ablations as JSON: the same object in report.json and in the page. A template over the JSON type, as the visitors.
#pragma once

#include "report/ablation.hpp"
#include "report/json_visitors.hpp"

namespace chexbench::report {

template <class Json>
void write_ratio(const JsonWriter<Json>& write, const char* name, const char* interval,
                 const std::optional<measure::Ratio>& ratio) {
  write(name, ratio ? std::optional(ratio->value) : std::nullopt);
  write(interval, ratio ? ratio->ci95 : std::nullopt);
}

template <class Json>
Json ablations_to_json(const Report& report) {
  Json all = Json::array();
  for (const Ablation& ablation : ablations(report)) {
    Json steps = Json::array();
    for (const AblationStep& step : ablation.steps) {
      const JsonWriter write(steps.emplace_back(Json::object()));
      write("name", step.name);
      write("key", step.trial->key);
      write("images_per_s", step.images_per_s);
      write_ratio(write, "ratio", "ratio_ci95", step.to_before);
      write_ratio(write, "ratio_to_first", "ratio_to_first_ci95", step.to_first);
    }
    all.push_back({{"over", ablation.over}, {"emulated", ablation.emulated}, {"steps", std::move(steps)}});
  }
  return all;
}

}  // namespace chexbench::report
