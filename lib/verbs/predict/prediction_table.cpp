#include <fmt/format.h>

#include "analysis/starvation.hpp"
#include "report/figure_text.hpp"
#include "report/fitted_table.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {
namespace {

std::string rate_or_blank(const std::optional<double>& images_per_s) {
  return images_per_s ? analysis::rate(*images_per_s) : "";
}

std::string off_by(const PredictionRow& row) {
  if (!row.known_images_per_s) return "";
  return fmt::format("{:+.1f} %{}", 100 * (row.images_per_s / *row.known_images_per_s - 1),
                     row.fitted ? " fitted" : "");
}

std::string scaling_word(const PredictionRow& row) {
  if (row.starves()) return "starved";
  return row.linear() && row.ranks > 1 ? "linear" : "";
}

std::string rows_table(const PredictionArm& arm, const report::LineWidth& width) {
  report::TextTable table{.header = {"ranks", "batch", "images/s", "efficiency", "", "of accelerator", "limit",
                                     "decode", "storage", "compute", "network", "exposed", "known", "off by", ""},
                          .rows = {},
                          .expendable = {11, 8, 10, 9, 7, 1, 5, 12}};
  for (const PredictionRow& row : arm.rows) {
    table.rows.push_back({std::to_string(row.ranks), std::to_string(row.local_batch), rate_or_blank(row.images_per_s),
                          report::percent(row.efficiency), scaling_word(row), report::percent(row.accelerator_share()),
                          row.limit, rate_or_blank(row.decode_images_per_s), rate_or_blank(row.storage_images_per_s),
                          rate_or_blank(row.compute_images_per_s), rate_or_blank(row.network_images_per_s),
                          report::percent(row.exposed_communication_share), rate_or_blank(row.known_images_per_s),
                          off_by(row), row.extrapolated ? "*" : ""});
  }
  return report::fitted_text(table, width, "--format csv");
}

std::string requirement_text(const Requirement& needed) {
  std::string text = fmt::format("For {:.1f} % of {} times one rank that never waits, {} images/s:\n",
                                 100 * needed.efficiency, needed.ranks, rate_or_blank(needed.images_per_s));
  if (needed.cores_per_rank)
    text +=
        fmt::format("  {} core{} a rank to decode\n", *needed.cores_per_rank, *needed.cores_per_rank == 1 ? "" : "s");
  if (needed.storage_bytes_per_s) text += fmt::format("  {:.3g} GB/s of storage\n", *needed.storage_bytes_per_s / 1e9);
  if (needed.link_bytes_per_s) text += fmt::format("  {:.3g} GB/s a network link\n", *needed.link_bytes_per_s / 1e9);
  for (const std::string& note : needed.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::string arm_text(const PredictionArm& arm, const report::LineWidth& width) {
  std::string text = fmt::format(
      "{}\npredicted, not measured; {} scaling; network alpha {:.3g} s, beta {:.3g} GB/s, {:.3g} s a "
      "bucket\n\n{}\n",
      arm.name, arm.scaling, arm.alpha_s, arm.beta_bytes_per_s / 1e9, arm.launch_s, rows_table(arm, width));
  for (const std::string& note : arm.notes) text += fmt::format("{}\n", note);
  text +=
      fmt::format("Speed of {}{}: {}\n", arm.accelerator, arm.speed_computed ? " (computed speed)" : "", arm.source);
  if (arm.requirement) text += fmt::format("\n{}", requirement_text(*arm.requirement));
  return text;
}

}  // namespace

std::string prediction_table(const Prediction& prediction, const report::LineWidth& width) {
  std::string text;
  for (const PredictionArm& arm : prediction.arms) {
    if (!text.empty()) text += '\n';
    text += arm_text(arm, width);
  }
  return text;
}

}  // namespace chexbench::verbs
