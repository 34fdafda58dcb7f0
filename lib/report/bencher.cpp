#include "report/bencher.hpp"

#include <nlohmann/json.hpp>

#include "analysis/derive.hpp"
#include "report/finished_trials.hpp"
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

std::string bencher_json(const results::Report& report) {
  Json object = Json::object();
  const std::vector<results::Figures> figures = analysis::derive_all_figures(report.trials);
  for (const FinishedTrial& finished : finished_trials(report))
    object[finished.name] = measures_of(figures[static_cast<std::size_t>(finished.trial - report.trials.data())]);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::report
