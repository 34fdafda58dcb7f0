// Writes ablations and second jobs as JSON: report.json and report.html contain the same arrays. Like the visitors of
// json_visitors.hpp, these are templates over the JSON type, so that this header does not include the library.
#pragma once

#include "analysis/ablation.hpp"
#include "analysis/second_job.hpp"
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

// Returns an array with one object per trial that ran alongside a second job and also alone. Rates of the second job
// are in images/s, or in bytes/s if `second_counts_bytes`, and null if its kind has none.
template <class Json>
Json second_jobs_to_json(const std::vector<analysis::SecondJobCost>& costs) {
  Json all = Json::array();
  for (const analysis::SecondJobCost& cost : costs) {
    const results::JsonWriter write(all.emplace_back(Json::object()));
    write("key", cost.pair.trial.trial.key);
    write("alone_key", cost.pair.base.trial.key);
    write("alone_images_per_s", cost.pair.base.images_per_s());
    write("images_per_s", cost.pair.trial.images_per_s());
    write_ratio(write, "kept", "kept_ci95", std::optional(cost.pair.ratio));
    const auto& second = cost.second;
    write("second_emulated", analysis::second_job_is_emulated(cost.pair.trial.trial.spec));
    write("second_counts_bytes", second && second->counts_bytes);
    write("second_alone_rate", second ? std::optional(second->alone) : std::nullopt);
    write("second_rate", second ? std::optional(second->beside) : std::nullopt);
    write_ratio(write, "second_kept", "second_kept_ci95", second ? std::optional(second->kept) : std::nullopt);
  }
  return all;
}

}  // namespace chexbench::report
