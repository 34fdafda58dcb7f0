#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/fitted_table.hpp"
#include "verbs/model/roofline.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

std::string four_digits(const std::optional<double>& images_per_s) {
  return images_per_s ? fmt::format("{:.4g}", *images_per_s) : "";
}

std::string misfit_percent(const RooflineCheck& check, const std::optional<double>& computed) {
  return computed ? fmt::format("{:+.0f} %", 100 * (*computed / check.entry.images_per_s - 1)) : "";
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("a factor of {:.2f}", *factor) : "cannot be checked";
}

std::string entries_table(const Roofline& roofline, const report::LineWidth& width) {
  report::TextTable table{.header = {"batch", "images/s", "step", "efficiency", "bound by memory"}, .rows = {}};
  for (const RooflineEntry& one : roofline.entries) {
    table.rows.push_back({std::to_string(one.entry.batch_size), four_digits(one.entry.images_per_s),
                          fmt::format("{:.1f} ms", 1e3 * one.entry.compute_s()), fmt::format("{:.3f}", one.efficiency),
                          fmt::format("{:.0f} %", 100 * one.memory_bound_share)});
  }
  return report::fitted_text(table, width, "--format json");
}

std::string checks_table(const Roofline& roofline, const report::LineWidth& width) {
  report::TextTable table{.header = {"sourced entry", "precision", "batch", "images/s", "efficiency", "own network",
                                     "off by", "proportion", "off by", "other networks", "off by"},
                          .rows = {},
                          .left_columns = 2,
                          .expendable = {4, 2, 8, 10, 7, 9}};
  for (const RooflineCheck& check : roofline.checks) {
    table.rows.push_back({fmt::format("{} {}x{}", check.entry.model, check.entry.image_size, check.entry.image_size),
                          to_string(check.entry.precision), std::to_string(check.entry.batch_size),
                          four_digits(check.entry.images_per_s), fmt::format("{:.3f}", check.efficiency),
                          four_digits(check.by_own_network), misfit_percent(check, check.by_own_network),
                          four_digits(check.by_proportion), misfit_percent(check, check.by_proportion),
                          four_digits(check.by_other_networks), misfit_percent(check, check.by_other_networks)});
  }
  return report::fitted_text(table, width, "--format json");
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json roofline_check_to_json(const RooflineCheck& check) {
  return {{"model", check.entry.model},
          {"image_size", check.entry.image_size},
          {"precision", to_string(check.entry.precision)},
          {"batch_size", check.entry.batch_size},
          {"images_per_s", check.entry.images_per_s},
          {"efficiency", check.efficiency},
          {"computed_by_own_network_images_per_s", number_or_null(check.by_own_network)},
          {"computed_by_proportion_images_per_s", number_or_null(check.by_proportion)},
          {"computed_by_other_networks_images_per_s", number_or_null(check.by_other_networks)}};
}

}  // namespace

std::string roofline_table(const Roofline& roofline, const report::LineWidth& width) {
  const spec::ProfileEntry& first = roofline.entries.front().entry;
  std::string text = fmt::format(
      "{} {}x{} {} on {}: computed, not measured\npeaks: {:.4g} FLOP/s, {:.4g} bytes/s ({})\n{}\n\n{}\n"
      "For the list 'entries' of a profile:\n",
      first.model, first.image_size, first.image_size, to_string(first.precision), roofline.profile.device,
      roofline.profile.peaks->flops_per_s.at(first.precision), roofline.profile.peaks->bytes_per_s,
      roofline.profile.peaks->source, first.source, entries_table(roofline, width));
  for (std::size_t i = 0; i < roofline.entries.size(); ++i)
    text += spec::entry_json(roofline.entries[i].entry) + (i + 1 < roofline.entries.size() ? ",\n" : "\n");
  text += fmt::format(
      "\nThe same for each sourced entry, with an efficiency from other entries only:\n\n{}\nmedian misfit: by the "
      "same network {}; by proportion {}; by other networks {}\n",
      checks_table(roofline, width), factor_text(median_misfit(roofline.checks, &RooflineCheck::by_own_network)),
      factor_text(median_misfit(roofline.checks, &RooflineCheck::by_proportion)),
      factor_text(median_misfit(roofline.checks, &RooflineCheck::by_other_networks)));
  return text;
}

std::string roofline_json(const Roofline& roofline) {
  Json object = {
      {"chexbench_version", roofline.chexbench_version},
      {"profile", roofline.profile.name},
      {"device", roofline.profile.device},
      {"entries", Json::array()},
      {"checks", Json::array()},
      {"median_misfit_by_own_network", number_or_null(median_misfit(roofline.checks, &RooflineCheck::by_own_network))},
      {"median_misfit_by_other_networks",
       number_or_null(median_misfit(roofline.checks, &RooflineCheck::by_other_networks))}};
  for (const RooflineEntry& one : roofline.entries) {
    Json& entry = object["entries"].emplace_back(Json::parse(spec::entry_json(one.entry)));
    entry["efficiency"] = one.efficiency;
    entry["memory_bound_share"] = one.memory_bound_share;
  }
  for (const RooflineCheck& check : roofline.checks) object["checks"].push_back(roofline_check_to_json(check));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::verbs
