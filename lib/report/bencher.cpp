#include "report/bencher.hpp"

#include <nlohmann/json.hpp>

#include "report/swept_keys.hpp"
#include "results/figures.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json measures_of(const results::Figures& figures) {
  Json throughput{{"value", figures.images_per_s.value()}};
  if (figures.images_per_s_ci95) {
    throughput["lower_value"] = figures.images_per_s_ci95->low;
    throughput["upper_value"] = figures.images_per_s_ci95->high;
  }
  Json measures{{"throughput", throughput}};
  if (figures.wait_share) measures["wait-share"]["value"] = *figures.wait_share;
  return measures;
}

}  // namespace

std::string bencher_json(const analysis::Evaluation& evaluation) {
  Json object = Json::object();
  const results::TrialResult* const first = evaluation.report.trials.data();
  for (const FinishedTrial& finished : finished_trials(evaluation.report))
    object[finished.name] = measures_of(evaluation.figures[static_cast<std::size_t>(finished.trial - first)]);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::report
