#include "verbs/advise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/text_table.hpp"
#include "results/labels.hpp"

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

namespace {

std::string measured(const AdviceTry& attempt) {
  return attempt.ratio ? report::times(attempt.ratio->value) : "not tried";
}

std::string kept(const AdviceTry& attempt) {
  if (attempt.replaced) return "replaced by a later one";
  if (attempt.kept) return attempt.saves_memory ? "yes: saves memory" : "yes";
  if (!attempt.ratio) return "";
  return attempt.grade == results::Grade::told_apart ? "no" : fmt::format("no: {}", results::to_string(attempt.grade));
}

// Returns whether a busy machine left an edit undecided.
bool left_open(const Advice& advice) {
  return std::ranges::any_of(advice.tries, [](const AdviceTry& attempt) {
    return attempt.ratio && attempt.grade == results::Grade::machine_too_busy;
  });
}

std::string outcome(const Advice& advice) {
  const std::string name = results::marked(advice.trial, advice.emulated);
  const bool any_tried =
      std::ranges::any_of(advice.tries, [](const AdviceTry& attempt) { return attempt.ratio.has_value(); });
  if (!any_tried && advice.out_of_time && !advice.tries.empty()) {
    const double most = std::ranges::max(advice.tries, {}, &AdviceTry::predicted_ratio).predicted_ratio;
    return fmt::format(
        "{}: the time was too short to try anything, so nothing is known of what promises up to {}; "
        "{:.1f} images/s. A try takes about {:.0f} s.\n",
        name, report::times(most), advice.images_per_s_before, advice.try_s);
  }
  if (advice.withdrawn) {
    return fmt::format(
        "{}: what was kept one by one cannot be shown to be faster all together ({}: {:.1f} images/s against {:.1f}), "
        "so the spec stays as it was.\n",
        name, results::to_string(advice.grade), advice.images_per_s_after, advice.images_per_s_before);
  }
  if (!advice.ratio && left_open(advice)) {
    return fmt::format("{}: nothing can be shown to be faster, as the machine was too busy to tell; {:.1f} images/s.\n",
                       name, advice.images_per_s_before);
  }
  if (!advice.ratio)
    return fmt::format("{}: nothing that was tried is faster; {:.1f} images/s.\n", name, advice.images_per_s_before);
  return fmt::format("{}: {} the images/s with what was kept{}: {:.1f} against {:.1f}.\n", name,
                     report::times(advice.ratio->value),
                     advice.ratio->ci95 ? fmt::format(" (95 % interval {})", report::interval_text(advice.ratio)) : "",
                     advice.images_per_s_after, advice.images_per_s_before);
}

}  // namespace

bool is_kept(const AdviceTry& attempt) {
  if (!attempt.ratio) return false;
  const auto& [value, ci95] = *attempt.ratio;
  if (attempt.saves_memory && attempt.grade != results::Grade::machine_too_busy)
    return ci95 && ci95->low > 1 - kToleratedLoss;
  return attempt.grade == results::Grade::told_apart && value > 1;
}

std::string advice_table(const Advice& advice, const report::LineWidth& width) {
  report::TextTable table{.header = {"edit", "predicted", "measured", "95 % interval", "images/s", "kept", "because"},
                          .rows = {},
                          .left_columns = 1,
                          .last_left = true,
                          .expendable = {1, 4, 3}};
  for (const AdviceTry& attempt : advice.tries) {
    table.rows.push_back(
        {attempt.edit, report::times(attempt.predicted_ratio), measured(attempt), report::interval_text(attempt.ratio),
         attempt.ratio ? fmt::format("{:.1f}", attempt.images_per_s) : "", kept(attempt), attempt.why});
  }
  std::string text = advice.verdict.empty() ? "" : advice.verdict + "\n\n";
  if (!table.rows.empty()) text += report::fitted_text(table, width, "--format json") + "\n";
  text += outcome(advice);
  if (advice.out_of_time)
    text += "The time was up before all that promises a gain was tried: give a longer --budget.\n";
  return text;
}

}  // namespace chexbench::verbs
