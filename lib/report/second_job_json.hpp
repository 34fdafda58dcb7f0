// Writes what trials and second jobs cost each other as JSON: report.json and report.html hold the same array. A
// template over the JSON type, as ablation_json.hpp, whose ratios it shares.
#pragma once

#include "analysis/second_job.hpp"
#include "report/ablation_json.hpp"

namespace chexbench::report {

// Returns an array with one object per trial that ran beside a second job and has its twin alone. Rates of the second
// job are in images/s, or in bytes/s if `second_counts_bytes`, and null if its kind has none.
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
