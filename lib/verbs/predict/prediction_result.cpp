#include "verbs/predict/prediction_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "analysis/utilization.hpp"
#include "core/text.hpp"
#include "report/csv_table.hpp"
#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

Json row_to_json(const PredictionRow& row) {
  return {{"ranks", row.ranks},
          {"local_batch", row.local_batch},
          {"images_per_s", row.images_per_s},
          {"efficiency", row.efficiency},
          {"linear", row.linear()},
          {"accelerator_share", row.accelerator_share()},
          {"starves", row.starves()},
          {"wait_share", row.wait_share()},
          {"limit", row.limit},
          {"decode_images_per_s", or_null(row.decode_images_per_s)},
          {"decode_measured", row.decode_measured},
          {"storage_images_per_s", or_null(row.storage_images_per_s)},
          {"compute_images_per_s", row.compute_images_per_s},
          {"network_images_per_s", row.network_images_per_s},
          {"exposed_communication_share", row.exposed_communication_share},
          {"known_images_per_s", or_null(row.known_images_per_s)},
          {"fitted", row.fitted},
          {"step_time_computed", row.step_time_computed},
          {"extrapolated", row.extrapolated}};
}

Json requirement_to_json(const Requirement& needed) {
  return {{"ranks", needed.ranks},
          {"efficiency", needed.efficiency},
          {"images_per_s", needed.images_per_s},
          {"cores_per_rank", or_null(needed.cores_per_rank)},
          {"storage_bytes_per_s", or_null(needed.storage_bytes_per_s)},
          {"link_bytes_per_s", or_null(needed.link_bytes_per_s)},
          {"notes", needed.notes}};
}

Json arm_to_json(const PredictionArm& arm) {
  return {{"name", arm.name},
          {"pipeline", arm.pipeline},
          {"format", arm.format},
          {"model", arm.model},
          {"image_size", arm.image_size},
          {"precision", arm.precision},
          {"batch_size", arm.batch_size},
          {"profile", arm.profile},
          {"accelerator", arm.accelerator},
          {"source", arm.source},
          {"speed_computed", arm.speed_computed},
          {"scaling", arm.scaling},
          {"comm_profile", arm.comm_profile},
          {"link", arm.link},
          {"host_link", arm.host_link},
          {"ranks_per_host", arm.ranks_per_host},
          {"step_spread", arm.step_spread},
          {"alpha_s", arm.alpha_s},
          {"beta_bytes_per_s", arm.beta_bytes_per_s},
          {"launch_s", arm.launch_s},
          {"fit_rms_error", or_null(arm.fit_rms_error)},
          {"input_images_per_s_per_rank", or_null(arm.input_images_per_s_per_rank)},
          {"cores_per_rank", or_null(arm.cores_per_rank)},
          {"grade", results::to_string(arm.grade)},
          {"notes", arm.notes},
          {"rows", list_of(arm.rows, row_to_json)},
          {"requirement", arm.requirement ? requirement_to_json(*arm.requirement) : Json(nullptr)}};
}

using results::Field;

void add_arm(report::CsvTable& table, const PredictionArm& arm) {
  table(Field{"arm"}, arm.name);
  table(Field{"pipeline"}, arm.pipeline);
  table(Field{"format"}, arm.format);
  table(Field{"model"}, arm.model);
  table(Field{"image_size"}, arm.image_size);
  table(Field{"precision"}, arm.precision);
  table(Field{"profile"}, arm.profile);
  table(Field{"accelerator"}, arm.accelerator);
  table(Field{"scaling"}, arm.scaling);
  table(Field{"batch_size"}, arm.batch_size);
}

void add_basis(report::CsvTable& table, const PredictionArm& arm) {
  table(Field{"cores_per_rank"}, arm.cores_per_rank);
  table(Field{"input_images_per_s_per_rank"}, arm.input_images_per_s_per_rank);
  table(Field{"alpha_s"}, arm.alpha_s);
  table(Field{"beta_bytes_per_s"}, arm.beta_bytes_per_s);
  table(Field{"launch_s"}, arm.launch_s);
  table(Field{"fit_rms_error"}, arm.fit_rms_error);
  table(Field{"grade"}, results::to_string(arm.grade));
  table(Field{"source"}, arm.source);
  table(Field{"comm_profile"}, arm.comm_profile);
  table(Field{"link"}, arm.link);
  table(Field{"host_link"}, arm.host_link);
  table(Field{"ranks_per_host"}, arm.ranks_per_host);
  table(Field{"step_spread"}, arm.step_spread);
}

void add_row(report::CsvTable& table, const PredictionArm& arm, const PredictionRow& row) {
  add_arm(table, arm);
  table(Field{"ranks"}, row.ranks);
  table(Field{"images_per_s"}, row.images_per_s);
  table(Field{"efficiency"}, row.efficiency);
  table(Field{"limit"}, row.limit);
  table(Field{"wait_share"}, row.wait_share());
  table(Field{"starves"}, row.starves());
  table(Field{"linear"}, row.linear());
  table(Field{"predicted"}, true);  // so that nobody takes it for a measured row of trials.csv
  table(Field{"step_time_computed"}, row.step_time_computed);
  table(Field{"extrapolated"}, row.extrapolated);
  table(Field{"accelerator_share"}, row.accelerator_share());
  table(Field{"local_batch"}, row.local_batch);
  table(Field{"decode_images_per_s"}, row.decode_images_per_s);
  table(Field{"decode_measured"}, row.decode_measured);
  table(Field{"storage_images_per_s"}, row.storage_images_per_s);
  table(Field{"compute_images_per_s"}, row.compute_images_per_s);
  table(Field{"network_images_per_s"}, row.network_images_per_s);
  table(Field{"exposed_communication_share"}, row.exposed_communication_share);
  table(Field{"known_images_per_s"}, row.known_images_per_s);
  table(Field{"fitted"}, row.fitted);
  add_basis(table, arm);
  table.end_row();
}

std::string rate_or_blank(const std::optional<double>& images_per_s) {
  return images_per_s ? rate_text(*images_per_s) : "";
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

// Returns "decode (starved)", "compute (linear)" or "network".
std::string limit_of(const PredictionRow& row) {
  const std::string word = scaling_word(row);
  return word.empty() ? row.limit : fmt::format("{} ({})", row.limit, word);
}

std::vector<std::string> cells_of(const PredictionRow& row) {
  return {grouped(static_cast<std::uint64_t>(row.ranks)),
          rate_or_blank(row.images_per_s),
          report::percent(row.efficiency),
          report::percent(row.accelerator_share()),
          limit_of(row),
          rate_or_blank(row.known_images_per_s),
          off_by(row)};
}

// Returns the row of the answer: that of the requested number of ranks, else the last one.
const PredictionRow& answered_row(const PredictionArm& arm) {
  for (const PredictionRow& row : arm.rows)
    if (arm.requirement && row.ranks == arm.requirement->ranks) return row;
  return arm.rows.back();
}

// Returns the rows with the columns of an answer: if there are many, every second one up to the requested number of
// ranks, the answer's, and those with known rates.
std::string short_table(const PredictionArm& arm, const report::LineWidth& width) {
  constexpr std::size_t kMostRows = 6;
  report::TextTable table{.header = {"ranks", "images/s", "efficiency", "of accelerator", "limit", "known", "off by"},
                          .rows = {},
                          .expendable = {5, 3}};
  const bool are_many = arm.rows.size() > kMostRows;
  const PredictionRow& answered = answered_row(arm);
  for (std::size_t i = 0; i < arm.rows.size(); ++i) {
    const PredictionRow& row = arm.rows[i];
    const bool is_beyond = arm.requirement && row.ranks > arm.requirement->ranks;
    if (are_many && (i % 2 == 1 || is_beyond) && &row != &answered && !row.known_images_per_s) continue;
    table.rows.push_back(cells_of(row));
  }
  return report::fitted_text(table, width, "--format csv");
}

std::string full_table(const PredictionArm& arm, const report::LineWidth& width) {
  report::TextTable table{.header = {"ranks", "batch", "images/s", "efficiency", "", "of accelerator", "limit",
                                     "decode", "storage", "compute", "network", "exposed", "known", "off by", ""},
                          .rows = {},
                          .expendable = {11, 8, 10, 9, 7, 1, 5, 12}};
  for (const PredictionRow& row : arm.rows) {
    table.rows.push_back({grouped(static_cast<std::uint64_t>(row.ranks)), std::to_string(row.local_batch),
                          rate_or_blank(row.images_per_s), report::percent(row.efficiency), scaling_word(row),
                          report::percent(row.accelerator_share()), row.limit, rate_or_blank(row.decode_images_per_s),
                          rate_or_blank(row.storage_images_per_s), rate_or_blank(row.compute_images_per_s),
                          rate_or_blank(row.network_images_per_s), report::percent(row.exposed_communication_share),
                          rate_or_blank(row.known_images_per_s), off_by(row), row.extrapolated ? "*" : ""});
  }
  return report::fitted_text(table, width, "--format csv");
}

std::string answer_of(const PredictionArm& arm) {
  const PredictionRow& row = answered_row(arm);
  std::string text =
      fmt::format("{} images/s predicted on {}, {} of full speed; limited by {}", rate_or_blank(row.images_per_s),
                  count_text(static_cast<std::uint64_t>(row.ranks), "rank"),
                  analysis::whole_percent(row.accelerator_share()), row.limit);
  if (arm.speed_computed) text += " [computed speed]";
  if (arm.grade != results::Grade::told_apart) text += fmt::format(" [{}]", results::to_string(arm.grade));
  return text + fmt::format("\n  trial    {}\n", arm.name);
}

// Returns "  for 95 % of full speed on 64 ranks: 23347 images/s, 6 cores per rank, 9.9 GB/s of storage", and a line for
// each need that is unknown.
std::string requirement_text(const Requirement& needed) {
  std::string text =
      fmt::format("  for {} of full speed on {}: {} images/s", analysis::whole_percent(needed.efficiency),
                  count_text(static_cast<std::uint64_t>(needed.ranks), "rank"), rate_or_blank(needed.images_per_s));
  if (needed.cores_per_rank)
    text += fmt::format(", {} per rank", count_text(static_cast<std::uint64_t>(*needed.cores_per_rank), "core"));
  if (needed.storage_bytes_per_s) text += fmt::format(", {:.3g} GB/s of storage", *needed.storage_bytes_per_s / 1e9);
  if (needed.link_bytes_per_s) text += fmt::format(", {:.3g} GB/s per link", *needed.link_bytes_per_s / 1e9);
  text += '\n';
  for (const std::string& note : needed.notes) text += fmt::format("    {}\n", note);
  return text;
}

std::string explanation(const PredictionArm& arm, const report::LineWidth& width) {
  std::string text =
      fmt::format("\n{} scaling; network {}, alpha {:.3g} s, beta {:.3g} GB/s, {:.3g} s a bucket\n\n{}\n", arm.scaling,
                  arm.comm_profile, arm.alpha_s, arm.beta_bytes_per_s / 1e9, arm.launch_s, full_table(arm, width));
  for (const std::string& note : arm.notes) text += fmt::format("{}\n", note);
  return text +
         fmt::format("Speed of {}{}: {}\n", arm.accelerator, arm.speed_computed ? " (computed speed)" : "", arm.source);
}

}  // namespace

std::string prediction_json(const Prediction& prediction) {
  return indented_json(
      {{"chexbench_version", CHEXBENCH_VERSION}, {"predicted", true}, {"arms", list_of(prediction.arms, arm_to_json)}});
}

std::string prediction_csv(const Prediction& prediction) {
  report::CsvTable table, any;
  add_row(any, {}, {});
  for (const PredictionArm& arm : prediction.arms)
    for (const PredictionRow& row : arm.rows) add_row(table, arm, row);
  return report::header_line(any.columns()) + table.lines();
}

std::string prediction_table(const Prediction& prediction, bool explain, const report::LineWidth& width) {
  std::vector<const PredictionArm*> fastest_first;
  for (const PredictionArm& arm : prediction.arms) fastest_first.push_back(&arm);
  std::ranges::stable_sort(fastest_first, std::greater(),
                           [](const PredictionArm* arm) { return answered_row(*arm).images_per_s; });
  std::string text;
  for (const PredictionArm* arm : fastest_first) {
    if (explain && !text.empty()) text += '\n';
    text += answer_of(*arm);
    if (arm->requirement) text += requirement_text(*arm->requirement);
    if (explain) text += explanation(*arm, width);
  }
  if (explain) return text;
  if (prediction.arms.size() == 1) text += "\n" + short_table(prediction.arms.front(), width);
  return text + "  details  --explain shows each limit at each number of ranks, and the assumptions\n";
}

}  // namespace chexbench::verbs
