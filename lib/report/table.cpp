#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "measure/page_cache.hpp"
#include "report/labels.hpp"
#include "report/text_table.hpp"

namespace chexbench::report {
namespace {

using Optional = std::optional<double>;

std::string number(const Optional& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "";
}

// What rounds to nothing is shown without a sign: sums of times end a rounding error beside zero.
std::string percent(const Optional& share) {
  if (!share) return "";
  return fmt::format("{:.1f} %", std::abs(*share) < 0.0005 ? 0 : 100 * *share);
}

// Three significant digits at least: a CPU trains 3.81 images/s, a pipeline delivers 812.
std::string throughput(const Optional& images_per_s) {
  return images_per_s ? number(images_per_s, *images_per_s < 10 ? 2 : 1) : "";
}

std::string interval(const std::optional<measure::Interval>& ci95) {
  return ci95 ? fmt::format("{} .. {}", throughput(ci95->low), throughput(ci95->high)) : "";
}

std::string megabytes(std::uint64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6) : "";
}

std::uint64_t bad_records(const TrialResult& trial) {
  std::uint64_t sum = 0;
  for (const RepeatResult& repeat : trial.repeats) sum += repeat.bad_records;
  return sum;
}

bool cache_not_verified(const TrialResult& trial) {
  return std::any_of(trial.repeats.begin(), trial.repeats.end(),
                     [](const RepeatResult& repeat) { return measure::is_doubtful(repeat.page_cache); });
}

// A word in the last column, what it means, and which trials get it.
struct Flag {
  const char* word;
  const char* meaning;
  std::function<bool(const TrialResult&, const Figures&)> applies;
};

const std::vector<Flag>& flags() {
  static const std::vector<Flag> instance{
      {"(emulated)", "no arithmetic was done: a step takes the time that the source below gives for it",
       [](const TrialResult& trial, const Figures&) { return trial.emulated; }},
      {"unstable", "the repeats still differ by more than measure.relative_error when the trial ended",
       [](const TrialResult& trial, const Figures&) { return trial.unstable; }},
      {"partial", "ended before all its repeats or steps were measured",
       [](const TrialResult& trial, const Figures&) { return trial.partial; }},
      {"buffer_fed",
       "the pipeline lived off what it had buffered (images held fell by over 5 % of those trained): its true rate is "
       "lower",
       [](const TrialResult&, const Figures& figures) { return figures.buffer_fed; }},
      {"oversubscribed", "ranks x cores_per_rank exceeds the cores of this host: ranks slow each other down",
       [](const TrialResult& trial, const Figures&) { return trial.oversubscribed; }},
      {"bad_records", "images or records could not be read and were skipped; trials.csv has their number",
       [](const TrialResult& trial, const Figures&) { return bad_records(trial) > 0; }},
      {"cache?", "the state of the page cache could not be verified (files of another owner, or in memory)",
       [](const TrialResult& trial, const Figures&) { return cache_not_verified(trial); }},
  };
  return instance;
}

std::string flags_of(const TrialResult& trial, const Figures& figures) {
  std::vector<std::string> words;
  for (const Flag& flag : flags()) {
    if (flag.applies(trial, figures)) words.emplace_back(flag.word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

template <class... Cells>
std::vector<std::string> row_of(std::vector<std::string> labels, Cells... cells) {
  (labels.push_back(std::move(cells)), ...);
  return labels;
}

std::string figures_table(const Report& report, const std::vector<Figures>& all, const Labels& labels) {
  TextTable table{.header = row_of(labels.names, "images/s", "+- MAD", "95 % interval", "scaling", "wait", "busy", "AU",
                                   "NVML", "decoded/trained", "peak RSS", "flags"),
                  .rows = {},
                  .left_columns = labels.names.size(),
                  .last_left = true};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Figures& figures = all[i];
    table.rows.push_back(row_of(labels.rows[i], throughput(figures.images_per_s), throughput(figures.images_per_s_mad),
                                interval(figures.images_per_s_ci95), percent(figures.scaling_efficiency),
                                percent(figures.wait_share), percent(figures.busy_share), percent(figures.au_share),
                                percent(figures.gpu.mean_utilization), number(figures.decoded_per_trained, 2),
                                megabytes(figures.peak_rss_bytes), flags_of(report.trials[i], figures)));
  }
  return render(table);
}

// The mean: pipelines that work in bursts have a median step that says nothing.
std::string mean_step(const TrialResult& trial) {
  double wall_s = 0;
  std::size_t steps = 0;
  for (const RepeatResult& repeat : trial.repeats) {
    for (const StepRecord& step : repeat.steps) wall_s += step.timings.wall_s;
    steps += repeat.steps.size();
  }
  return steps == 0 ? "" : fmt::format("{:.1f} ms", 1e3 * wall_s / static_cast<double>(steps));
}

// "map_and_batch: decode".
std::string waits_for(const Figures& figures) {
  return figures.wait_part.empty() ? figures.wait_op : figures.wait_op + ": " + figures.wait_part;
}

std::string time_table(const Report& report, const std::vector<Figures>& all, const Labels& labels) {
  TextTable table{.header = row_of(labels.names, "mean step", "wait", "upload", "compute", "communication", "update",
                                   "other", "waits for", ""),
                  .rows = {},
                  .left_columns = labels.names.size(),
                  .last_left = true};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Figures& figures = all[i];
    table.rows.push_back(row_of(
        labels.rows[i], mean_step(report.trials[i]), percent(figures.wait_share), percent(figures.upload_share),
        percent(figures.compute_share), percent(figures.exposed_communication_share), percent(figures.update_share),
        percent(figures.other_share), waits_for(figures), std::string(report.trials[i].emulated ? "(emulated)" : "")));
  }
  return "Where the time went (share of the step; communication as far as backward did not hide it):\n" + render(table);
}

std::string flag_notes(const Report& report, const std::vector<Figures>& all) {
  std::string text;
  for (const Flag& flag : flags()) {
    bool used = false;
    for (std::size_t i = 0; i < all.size(); ++i) used |= flag.applies(report.trials[i], all[i]);
    if (used) text += fmt::format("{}: {}\n", flag.word, flag.meaning);
  }
  return text;
}

// Where the speed of emulated engines comes from, and what engines want to be said; each once.
std::string engine_notes(const Report& report) {
  std::map<std::string, std::string> sources;
  std::vector<std::string> lines;
  for (const TrialResult& trial : report.trials) {
    if (trial.emulated) sources[trial.spec.engine] = trial.engine_source;
    for (const std::string& note : trial.notes) {
      const std::string line = fmt::format("{}: {}\n", trial.spec.engine, note);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  std::string text;
  for (const auto& [engine, source] : sources) text += fmt::format("source of {} (emulated): {}\n", engine, source);
  return text + fmt::format("{}", fmt::join(lines, ""));
}

// "GPUs: 4 x NVIDIA H100 80GB HBM3; driver 580.65.06"
std::string gpus_line(const Environment& environment) {
  if (environment.gpus.empty()) return "";
  std::map<std::string, int> numbers;
  for (const std::string& name : environment.gpus) ++numbers[name];
  std::vector<std::string> words;
  for (const auto& [name, number] : numbers) words.push_back(fmt::format("{} x {}", number, name));
  return fmt::format("GPUs: {}; driver {}\n", fmt::join(words, ", "), environment.gpu_driver);
}

std::string title(const Report& report, const Labels& labels) {
  const Environment& environment = report.environment;
  std::string text = fmt::format("{}: {} {} on {} ({}, {} {}), {}\n", report.experiment, report.trials.size(),
                                 report.trials.size() == 1 ? "trial" : "trials", environment.host, environment.cpu,
                                 environment.cores, environment.cores == 1 ? "core" : "cores", environment.date_utc);
  text += gpus_line(environment);
  if (report.interrupted) text += "ended early: this is what was measured until then\n";
  if (!labels.common.empty()) text += "all trials: " + labels.common + "\n";
  return text;
}

std::string findings_list(const Report& report) {
  std::string text = report.findings.empty() ? "" : "\nFindings:\n";
  for (const Finding& finding : report.findings) text += "- " + finding.text + "\n";
  return text;
}

}  // namespace

std::string result_table(const Report& report) {
  const Labels labels = label_trials(report.trials);
  std::vector<Figures> all;
  for (const TrialResult& trial : report.trials) all.push_back(derive_figures(trial, report.trials));
  if (all.empty()) return title(report, labels) + "no trial was measured\n";
  return title(report, labels) + "\n" + figures_table(report, all, labels) + flag_notes(report, all) +
         engine_notes(report) + "\n" + time_table(report, all, labels) + findings_list(report);
}

}  // namespace chexbench::report
