// Writes ablations as JSON: report.json and report.html hold the same array. Like the visitors of json_visitors.hpp,
// these are templates over the JSON type, so that this header does not include the library.
#pragma once

#include "analysis/ablation.hpp"
#include "results/json_visitors.hpp"
#include "results/labels.hpp"

namespace chexbench::report {

// Writes a ratio's value under `name` and its 95 % interval under `interval`; each is null if it is undefined.
template <class Json>
void write_ratio(const results::JsonWriter<Json>& write, const char* name, const char* interval,
                 const std::optional<measure::Ratio>& ratio) {
  write(name, ratio ? std::optional(ratio->value) : std::nullopt);
  write(interval, ratio ? ratio->ci95 : std::nullopt);
}

// Returns an array with one object per ablation: over, emulated, and its steps.
template <class Json>
Json ablations_to_json(const std::vector<analysis::Ablation>& ablations) {
  Json all = Json::array();
  for (const analysis::Ablation& ablation : ablations) {
    Json steps = Json::array();
    for (const analysis::AblationStep& step : ablation.steps) {
      const results::JsonWriter write(steps.emplace_back(Json::object()));
      write("name", step.name);
      write("key", step.trial->key);
      write("images_per_s", step.images_per_s);
      write_ratio(write, "ratio", "ratio_ci95", step.to_before);
      write("grade", results::to_string(step.grade));
      write_ratio(write, "ratio_to_first", "ratio_to_first_ci95", step.to_first);
    }
    all.push_back({{"over", ablation.over}, {"emulated", ablation.emulated}, {"steps", std::move(steps)}});
  }
  return all;
}

}  // namespace chexbench::report
