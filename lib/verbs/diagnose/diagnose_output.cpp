#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/text.hpp"
#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "verbs/diagnose/diagnose.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

constexpr std::size_t kMostListed = 10;
constexpr std::size_t kMostBrief = 4;  // ranks, those that wait longest, and findings below the first

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", 1e3 * seconds); }

std::string rank_table(const Diagnosis& diagnosis, const report::LineWidth& width, bool brief) {
  report::TextTable table{
      .header = {"rank", "steps", diagnosis.unit + "/s", "wait", "median step", "mean step", "mean wait"},
      .rows = {},
      .expendable = {5, 6}};
  std::vector<RankDiagnosis> ranks = diagnosis.ranks;
  if (brief && ranks.size() > kMostBrief) {
    std::ranges::stable_sort(ranks, std::ranges::greater{}, &RankDiagnosis::wait_share);
    ranks.resize(kMostBrief);
  }
  for (const RankDiagnosis& rank : ranks) {
    table.rows.push_back({std::to_string(rank.rank), grouped(rank.steps), rate_text(rank.images / rank.time_s),
                          report::percent(rank.wait_share()), milliseconds(rank.median_step_s),
                          brief ? "" : milliseconds(rank.mean_step_s()),
                          brief ? "" : milliseconds(rank.wait_s / static_cast<double>(rank.steps))});
  }
  return report::fitted_text(table, width, "--format json");
}

std::string outlier_table(const Diagnosis& diagnosis, const report::LineWidth& width) {
  if (diagnosis.outliers.empty()) return "";
  report::TextTable table{.header = {"rank", "epoch", "step", "took", "of it wait", ""}, .rows = {}, .last_left = true};
  const std::size_t listed = std::min(kMostListed, diagnosis.outliers.size());
  for (std::size_t i = 0; i < listed; ++i) {
    const Outlier& outlier = diagnosis.outliers[i];
    table.rows.push_back({std::to_string(outlier.step.rank), std::to_string(outlier.step.epoch),
                          std::to_string(outlier.index), milliseconds(outlier.step.step_s),
                          milliseconds(outlier.step.wait_s), outlier.first_of_epoch ? "first of its epoch" : ""});
  }
  std::string text = fmt::format("\nSteps of more than {:.0f} times their rank's median:\n", kOutlierFactor);
  text += report::fitted_text(table, width, "--format json");
  const std::size_t more = diagnosis.outliers.size() - listed;
  return more == 0 ? text : text + fmt::format("and {} more\n", more);
}

std::string table_of(const Diagnosis& diagnosis, const std::string& source, const report::LineWidth& width,
                     bool brief) {
  const std::vector<results::Finding>& findings = diagnosis.findings;
  std::string text = fmt::format("{}\n\n{}", findings.front().text, rank_table(diagnosis, width, brief));
  if (!brief) text += outlier_table(diagnosis, width);
  if (brief && diagnosis.ranks.size() > kMostBrief)
    text += fmt::format("and {} more ranks\n", grouped(diagnosis.ranks.size() - kMostBrief));
  if (!brief) text += '\n';
  const std::size_t told = brief ? std::min(findings.size(), kMostBrief + 1) : findings.size();
  for (std::size_t i = 1; i < told; ++i) text += "- " + findings[i].text + "\n";
  text += fmt::format("{}: {} of {}", source, count_text(diagnosis.steps, "step"),
                      count_text(diagnosis.ranks.size(), "rank"));
  if (diagnosis.left_out > 0)
    text += fmt::format("; the first step of each epoch ({} in all) is not counted", grouped(diagnosis.left_out));
  return text + (brief ? "\ndetails  --explain shows all findings, all ranks and slow steps\n" : "\n");
}

Json rank_to_json(const RankDiagnosis& rank) {
  return {{"rank", rank.rank},
          {"steps", rank.steps},
          {"images", rank.images},
          {"time_s", rank.time_s},
          {"wait_s", rank.wait_s},
          {"wait_share", rank.wait_share()},
          {"median_step_s", rank.median_step_s}};
}

Json outlier_to_json(const Outlier& outlier) {
  return {{"rank", outlier.step.rank},     {"epoch", outlier.step.epoch},   {"step", outlier.index},
          {"step_s", outlier.step.step_s}, {"wait_s", outlier.step.wait_s}, {"first_of_epoch", outlier.first_of_epoch}};
}

Json finding_to_json(const results::Finding& finding) {
  return {{"kind", finding.kind}, {"text", finding.text}, {"grade", results::to_string(finding.grade)}};
}

std::string json_of(const Diagnosis& diagnosis, const std::string& source) {
  return indented_json({{"source", source},
                        {"verdict", diagnosis.findings.front().kind},
                        {"steps", diagnosis.steps},
                        {"left_out", diagnosis.left_out},
                        {"unit", diagnosis.unit},
                        {"images_per_s", diagnosis.images_per_s},
                        {"wait_share", diagnosis.wait_share},
                        {"images_per_s_without_wait", or_null(diagnosis.images_per_s_without_wait)},
                        {"epoch_starts", diagnosis.epoch_starts},
                        {"epoch_start_extra_s", diagnosis.epoch_start_extra_s},
                        {"epoch_start_wait_s", diagnosis.epoch_start_wait_s},
                        {"epoch_start_share", diagnosis.epoch_start_share},
                        {"ranks", list_of(diagnosis.ranks, rank_to_json)},
                        {"outliers", list_of(diagnosis.outliers, outlier_to_json)},
                        {"findings", list_of(diagnosis.findings, finding_to_json)}});
}

}  // namespace

std::string format_diagnosis(const Diagnosis& diagnosis, const std::string& source, const std::string& format,
                             const report::LineWidth& width, bool brief) {
  return format == "json" ? json_of(diagnosis, source) : table_of(diagnosis, source, width, brief);
}

}  // namespace chexbench::verbs
