#include "report/result_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/ablation.hpp"
#include "analysis/learning.hpp"
#include "analysis/second_job.hpp"
#include "analysis/trust.hpp"
#include "analysis/verdict.hpp"
#include "core/text.hpp"
#include "report/text_table.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using Optional = std::optional<double>;

std::string number(const Optional& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "";
}

// A share that rounds to zero is shown as zero without a sign, because sums of times may be slightly negative.
std::string percent_or_blank(const Optional& share) {
  if (!share) return "";
  return fmt::format("{:.1f} %", std::abs(*share) < 0.0005 ? 0 : 100 * *share);
}

std::string throughput(const Optional& images_per_s) { return images_per_s ? rate_text(*images_per_s) : ""; }

std::string interval(const std::optional<measure::Interval>& ci95) {
  return ci95 ? fmt::format("{} to {}", throughput(ci95->low), throughput(ci95->high)) : "";
}

std::string megabytes(std::uint64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6) : "";
}

std::string flags_text(const results::TrialResult& trial, const results::Figures& figures) {
  return fmt::format("{}", fmt::join(analysis::flags_of(trial, figures), ", "));
}

template <class... Cells>
std::vector<std::string> row_of(std::vector<std::string> labels, Cells... cells) {
  (labels.push_back(std::move(cells)), ...);
  return labels;
}

// The columns of the figures, in the order in which they follow the labels.
enum FigureColumn : std::size_t {
  kImagesPerS,
  kMad,
  kInterval,
  kScaling,
  kWait,
  kBusy,
  kAu,
  kNvml,
  kDecodedPerTrained,
  kPeakRss
};

// The same of the table of times.
enum TimeColumn : std::size_t { kMeanStep, kTimeWait, kUpload, kCompute, kCommunication, kUpdate, kOther };

// The same of the table of what was learned.
constexpr std::size_t kEpochs = 0, kTrainingLoss = 6, kValidationLoss = 7;

std::vector<std::size_t> columns_behind(const results::Labels& labels, std::vector<std::size_t> columns) {
  for (std::size_t& column : columns) column += labels.names.size();
  return columns;
}

// Engine none only waits, which means nothing for a pipeline.
Optional if_trains(bool trains, const Optional& share) { return trains ? share : std::nullopt; }

// Returns whether any trial shows how far it scales. Otherwise the 100 % of trials on one rank is meaningless.
bool any_scales(const results::Report& report, const std::vector<results::Figures>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (report.trials[i].ranks > 1 && all[i].scaling_efficiency) return true;
  }
  return false;
}

TextTable figures_table(const results::Report& report, const std::vector<results::Figures>& all,
                        const results::Labels& labels) {
  TextTable table{.header = row_of(labels.names, "images/s", "+- MAD", "95 % interval", "scaling", "wait", "busy", "AU",
                                   "NVML", "decoded/trained", "peak RSS", "flags"),
                  .rows = {},
                  .left_columns = labels.names.size(),
                  .last_left = true,
                  .expendable = columns_behind(
                      labels, {kPeakRss, kMad, kDecodedPerTrained, kAu, kBusy, kNvml, kInterval, kScaling, kWait})};
  const bool scales = any_scales(report, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const results::Figures& figures = all[i];
    const bool trains = spec::has_engine(report.trials[i].spec);
    table.rows.push_back(row_of(
        labels.rows[i], throughput(figures.images_per_s), throughput(figures.images_per_s_mad),
        interval(figures.images_per_s_ci95), percent_or_blank(scales ? figures.scaling_efficiency : std::nullopt),
        percent_or_blank(if_trains(trains, figures.wait_share)),
        percent_or_blank(if_trains(trains, figures.busy_share)), percent_or_blank(figures.au_share),
        percent_or_blank(figures.gpu.mean_utilization), number(figures.decoded_per_trained, 2),
        megabytes(figures.peak_rss_bytes), flags_text(report.trials[i], figures)));
  }
  return table;
}

TextTable summary_table(const results::Report& report, const std::vector<results::Figures>& all) {
  const bool scales = any_scales(report, all);
  TextTable table{.header = {"trial", "images/s", scales ? "scaling" : "95 % interval", "wait", "flags"},
                  .rows = {},
                  .left_columns = 1,
                  .last_left = true,
                  .expendable = {2, 3}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const results::TrialResult& trial = report.trials[i];
    table.rows.push_back({trial.name, throughput(all[i].images_per_s),
                          scales ? percent_or_blank(all[i].scaling_efficiency) : interval(all[i].images_per_s_ci95),
                          percent_or_blank(if_trains(spec::has_engine(trial.spec), all[i].wait_share)),
                          flags_text(trial, all[i])});
  }
  return table;
}

// Returns the mean, because the median is meaningless if a pipeline delivers in bursts.
std::string mean_step(const results::TrialResult& trial) {
  double wall_s = 0;
  std::size_t steps = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const results::StepRecord& step : repeat->steps) wall_s += step.timings.wall_s;
    steps += repeat->steps.size();
  }
  return steps == 0 ? "" : fmt::format("{:.1f} ms", 1e3 * wall_s / static_cast<double>(steps));
}

// Returns "map_and_batch: decode": the op and its part to which waits are attributed, or "" if there are none.
std::string waits_for(const results::Figures& figures) {
  return figures.wait_part.empty() ? figures.wait_op : figures.wait_op + ": " + figures.wait_part;
}

TextTable time_table(const results::Report& report, const std::vector<results::Figures>& all,
                     const results::Labels& labels) {
  TextTable table{.header = row_of(labels.names, "mean step", "wait", "upload", "compute", "communication", "update",
                                   "other", "waits for", ""),
                  .rows = {},
                  .left_columns = labels.names.size(),
                  .last_left = true,
                  .expendable = columns_behind(labels, {kOther, kUpdate, kUpload, kMeanStep, kCommunication})};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const results::Figures& figures = all[i];
    const auto share = [&](const Optional& of_time) {
      return percent_or_blank(if_trains(spec::has_engine(report.trials[i].spec), of_time));
    };
    table.rows.push_back(row_of(labels.rows[i], mean_step(report.trials[i]), share(figures.wait_share),
                                share(figures.upload_share), share(figures.compute_share),
                                share(figures.exposed_communication_share), share(figures.update_share),
                                share(figures.other_share), waits_for(figures), results::mark_of(report.trials[i])));
  }
  return table;
}

TextTable learning_table(const results::Report& report, const std::vector<results::Figures>& all,
                         const results::Labels& labels) {
  const bool has_classes =
      std::ranges::any_of(all, [](const results::Figures& figures) { return figures.top1.has_value(); });
  TextTable table{.header = row_of(labels.names, "epochs", has_classes ? "AUROC or top-1" : "AUROC", "95 % interval",
                                   "of repeats", "at epoch", "time to target", "training loss", "validation loss"),
                  .rows = {},
                  .left_columns = labels.names.size(),
                  .expendable = columns_behind(labels, {kTrainingLoss, kValidationLoss, kEpochs})};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const results::EpochRecord* const epoch = analysis::representative_epoch(report.trials[i]);
    if (epoch == nullptr) continue;
    const auto& ci95 = all[i].top1 ? all[i].top1_ci95 : all[i].mean_auroc_ci95;
    const std::optional<analysis::AurocSpread> spread = analysis::auroc_spread(report.trials[i]);
    table.rows.push_back(
        row_of(labels.rows[i], fmt::to_string(report.trials[i].spec.training.epochs),
               number(all[i].top1 ? all[i].top1 : all[i].mean_auroc, 3),
               ci95 ? fmt::format("{:.3f} to {:.3f}", ci95->low, ci95->high) : std::string(),
               spread ? fmt::format("{:.3f} to {:.3f}", spread->worst, spread->best) : std::string(),
               fmt::to_string(epoch->epoch),
               all[i].time_to_auroc_s ? fmt::format("{:.1f} s", *all[i].time_to_auroc_s) : std::string(),
               number(epoch->training_loss, 4), number(epoch->validation_loss, 4)));
  }
  return table;
}

// Returns "812", for images/s, or "10.3 GB/s".
std::string job_rate(const analysis::SecondJobRates& rates, double value) {
  return rates.counts_bytes ? fmt::format("{:.2f} GB/s", value / 1e9) : throughput(value);
}

TextTable two_jobs_table(const std::vector<analysis::SecondJobCost>& costs) {
  TextTable table{
      .header = {"trial", "alone", "with it", "keeps", "interval", "second alone", "with trial", "keeps", "interval"},
      .rows = {},
      .left_columns = 1,
      .expendable = {5, 1, 6, 2}};
  for (const analysis::SecondJobCost& cost : costs) {
    std::vector<std::string> row{cost.pair.trial.name(), throughput(cost.pair.base.images_per_s()),
                                 throughput(cost.pair.trial.images_per_s()), times(cost.pair.ratio.value),
                                 interval_text(cost.pair.ratio)};
    if (analysis::second_job_is_emulated(cost.pair.trial.trial.spec)) row.front() += " (second job emulated)";
    if (cost.second) {
      for (const std::string& cell :
           {job_rate(*cost.second, cost.second->alone), job_rate(*cost.second, cost.second->beside),
            times(cost.second->kept.value), interval_text(cost.second->kept)})
        row.push_back(cell);
    }
    row.resize(table.header.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string times_if(const std::optional<measure::Ratio>& ratio) { return ratio ? times(ratio->value) : ""; }

AblationTable ablation_table(const analysis::Ablation& ablation) {
  TextTable table{
      .header = {"step", "images/s", "to the one before", "95 % interval", "to the first", "95 % interval", ""},
      .rows = {},
      .left_columns = 1,
      .last_left = true,
      .expendable = {5, 4}};
  for (const analysis::AblationStep& step : ablation.steps) {
    table.rows.push_back({step.name, throughput(step.images_per_s), times_if(step.to_before),
                          interval_text(step.to_before), times_if(step.to_first), interval_text(step.to_first),
                          ablation.emulated ? "(emulated)" : ""});
  }
  return {.over = ablation.over, .steps = std::move(table)};
}

std::vector<std::string> flag_notes(const results::Report& report, const std::vector<results::Figures>& all) {
  std::vector<std::string> lines;
  for (const analysis::Flag& flag : analysis::flags()) {
    bool used = false;
    for (std::size_t i = 0; i < all.size(); ++i) used |= flag.applies(report.trials[i], all[i]);
    if (used) lines.push_back(fmt::format("{}: {}", flag.word, flag.meaning));
  }
  return lines;
}

// Returns the sources of the speed of emulated engines, then the notes of all engines, without duplicates.
std::vector<std::string> engine_notes(const results::Report& report) {
  std::set<std::pair<std::string, std::string>> sources;
  std::vector<std::string> said;
  for (const results::TrialResult& trial : report.trials) {
    if (trial.emulated) sources.emplace(trial.spec.engine, trial.engine_source);
    for (const std::string& note : trial.notes) {
      const std::string line = fmt::format("{}: {}", trial.spec.engine, note);
      if (std::ranges::find(said, line) == said.end()) said.push_back(line);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [engine, source] : sources) {
    lines.push_back(fmt::format("source of {} (emulated): {}", engine, source));
  }
  std::ranges::move(said, std::back_inserter(lines));
  return lines;
}

// Returns the value found for each parameter that is "auto", and the reason.
std::vector<std::string> tuning_notes(const results::Report& report) {
  std::vector<std::string> lines;
  for (const results::TrialResult& trial : report.trials) {
    if (trial.repeats.empty()) continue;
    for (const results::OpTuning& tuning : trial.repeats.front().tunings) {
      lines.push_back(fmt::format("{}: {}.{} \"auto\" is {}: {}", results::marked(trial), tuning.op, tuning.parameter,
                                  tuning.value, tuning.reason));
    }
  }
  return lines;
}

// Returns "GPUs: 4 x NVIDIA H100 80GB HBM3; driver 580.65.06".
std::string gpus_line(const results::Environment& environment) {
  std::map<std::string, int> numbers;
  for (const std::string& name : environment.gpus) ++numbers[name];
  std::vector<std::string> words;
  for (const auto& [name, number] : numbers) words.push_back(fmt::format("{} x {}", number, name));
  return fmt::format("GPUs: {}; driver {}", fmt::join(words, ", "), environment.gpu_driver);
}

std::vector<std::string> title(const results::Report& report, const results::Labels& labels) {
  const results::Environment& environment = report.environment;
  std::vector<std::string> lines{fmt::format("{}: {} {} on {} ({}, {} {}), {}", report.experiment, report.trials.size(),
                                             report.trials.size() == 1 ? "trial" : "trials", environment.host,
                                             environment.cpu, environment.cores,
                                             environment.cores == 1 ? "core" : "cores", environment.date_utc)};
  if (!environment.gpus.empty()) lines.push_back(gpus_line(environment));
  if (report.interrupted) lines.emplace_back("ended early: these are the measurements up to then");
  if (!labels.common.empty()) lines.push_back("all trials: " + labels.common);
  return lines;
}

}  // namespace

ResultTables result_tables(const analysis::Evaluation& evaluation) {
  const results::Report& report = evaluation.report;
  const results::Labels labels = results::label_trials(report.trials);
  const std::vector<results::Figures>& all = evaluation.figures;
  ResultTables tables{.title = title(report, labels),
                      .summary = summary_table(report, all),
                      .figures = figures_table(report, all, labels),
                      .ablations = {},
                      .learning = learning_table(report, all, labels),
                      .two_jobs = two_jobs_table(evaluation.second_jobs),
                      .times = time_table(report, all, labels),
                      .notes = flag_notes(report, all)};
  for (const analysis::Ablation& ablation : evaluation.ablations())
    tables.ablations.push_back(ablation_table(ablation));
  std::ranges::move(tuning_notes(report), std::back_inserter(tables.notes));
  std::ranges::move(engine_notes(report), std::back_inserter(tables.notes));
  return tables;
}

}  // namespace chexbench::report
