#include "report/html_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "analysis/answer.hpp"
#include "analysis/commands.hpp"
#include "analysis/learning.hpp"
#include "analysis/trust.hpp"
#include "measure/statistics.hpp"
#include "report/json.hpp"
#include "report/result_tables.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "results/read.hpp"
#include "results/record_json.hpp"
#include "spec/resolved.hpp"

namespace chexbench::report {
namespace {

using results::Json;

constexpr std::size_t kMostFindings = 500;
constexpr std::size_t kMostTrialBytes = 3'000'000;  // of the page; beyond that, only the first
constexpr std::size_t kLeastTrials = 100;           // trials are shown
constexpr const char* kPageFolder = ".";            // the page stays next to the results, even if the folder moves

// Returns "naive, images, ranks 2": what distinguishes the trial. Plain numbers include their name.
std::string label_of(const results::Labels& labels, std::size_t trial) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < labels.names.size(); ++i) {
    if (labels.rows[trial][i].empty()) continue;  // such as the pipeline of ready-made batches
    const bool number = labels.names[i] == "ranks" || labels.names[i] == "batch";
    words.push_back(number ? labels.names[i] + " " + labels.rows[trial][i] : labels.rows[trial][i]);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Json ranks_of(const results::TrialResult& trial) {
  Json ranks = Json::array();
  for (const RankTime& time : time_by_rank(trial)) {
    const measure::StepTimings& sum = time.sum;
    ranks.push_back({{"rank", time.rank},
                     {"wall_s", sum.wall_s},
                     {"wait_s", sum.wait_s},
                     {"upload_s", sum.upload_s},
                     {"compute_s", sum.compute_s},
                     {"exposed_communication_s", sum.exposed_communication_s},
                     {"update_s", sum.update_s},
                     {"other_s", sum.other_s}});
  }
  return ranks;
}

// Returns the counters of one op, summed over the repeats. Bytes held and the queue's capacity are per rank.
Json op_of(const results::TrialResult& trial, std::size_t index) {
  measure::OpCounters sum;
  for (const results::RepeatResult& repeat : trial.repeats) {
    if (index >= repeat.ops.size()) continue;
    for (const auto total : measure::kOpTotals) sum.*total += repeat.ops[index].*total;
    for (const auto time : measure::kOpTimes) sum.*time += repeat.ops[index].*time;
    for (const auto level : measure::kOpLevels) sum.*level = std::max(sum.*level, repeat.ops[index].*level);
  }
  const auto per_rank = [&](std::uint64_t level) { return static_cast<double>(level) / trial.ranks; };
  Json depth = nullptr;
  if (sum.queue_capacity > 0 && sum.elements_out > 0) {
    depth = sum.queue_depth_sum / static_cast<double>(sum.elements_out);
  }
  return {{"op", trial.repeats.front().ops[index].op},
          {"elements_out", sum.elements_out},
          {"busy_wall_s", sum.busy_wall_s},
          {"blocked_input_s", sum.blocked_input_s},
          {"blocked_output_s", sum.blocked_output_s},
          {"mean_queue_depth", depth},
          {"queue_capacity", sum.queue_capacity > 0 ? Json(per_rank(sum.queue_capacity)) : Json(nullptr)},
          {"bytes_held", per_rank(sum.bytes_held)}};
}

Json ops_of(const results::TrialResult& trial) {
  Json ops = Json::array();
  const std::size_t count = trial.repeats.empty() ? 0 : trial.repeats.front().ops.size();
  for (std::size_t i = 0; i < count; ++i) ops.push_back(op_of(trial, i));
  return ops;
}

Json repeat_of(const results::RepeatResult& repeat) {
  const StepCurve steps = step_curve(repeat, kMostPoints);
  Json gpus = Json::array();
  for (const results::GpuSeries& gpu : repeat.gpus) {
    const UtilizationCurve curve = utilization_curve(repeat, gpu, kMostPoints);
    gpus.push_back({{"rank", gpu.rank}, {"time_s", curve.time_s}, {"utilization", curve.utilization}});
  }
  Json queues = Json::array();
  for (const QueueCurve& queue : queue_curves(repeat)) queues.push_back({{"op", queue.op}, {"depth", queue.depth}});
  Json epochs = Json::array();
  for (const results::EpochRecord& epoch : repeat.epochs) {
    visit_fields(results::JsonWriter(epochs.emplace_back(Json::object())), epoch);
  }
  return {{"repeat", repeat.repeat},
          {"epochs", std::move(epochs)},
          {"images_per_s", repeat.images_per_s},
          {"wall_s", repeat.wall_s},
          {"page_cache", repeat.page_cache},
          {"steps_per_point", steps.steps_per_point},
          {"median_step_s", steps.median_s},
          {"slowest_step_s", steps.slowest_s},
          {"queues", std::move(queues)},
          {"gpus", std::move(gpus)}};
}

// Returns the scores of all labels in the epoch that represents the trial.
Json scores_of(const results::TrialResult& trial) {
  Json scores = Json::array();
  const results::EpochRecord* const epoch = analysis::representative_epoch(trial);
  if (epoch == nullptr) return scores;
  std::vector<std::string> labels;
  for (const results::LabelScore& score : epoch->scores) {
    visit_fields(results::JsonWriter(scores.emplace_back(Json::object())), score);
    labels.push_back(score.label);
  }
  if (!analysis::has_published_aurocs(labels)) return scores;
  for (const analysis::PublishedAurocs& published : analysis::published_aurocs()) {
    for (std::size_t f = 0; f < labels.size(); ++f) scores[f]["published"][published.name] = published.of[f];
  }
  return scores;
}

// Returns the curves of all labels in the same epoch.
Json curves_of(const results::TrialResult& trial) {
  Json curves = Json::array();
  const results::EpochRecord* const epoch = analysis::representative_epoch(trial);
  if (epoch == nullptr) return curves;
  for (const results::LabelCurves& label : epoch->curves)
    visit_fields(results::JsonWriter(curves.emplace_back(Json::object())), label);
  return curves;
}

Json trial_of(const results::TrialResult& trial, const results::Figures& figures, const std::string& label) {
  Json object = Json::object();
  visit_fields(results::JsonWriter(object), trial);
  object["label"] = label;
  object["mark"] = results::mark_of(trial);
  object["flags"] = analysis::flags_of(trial, figures);
  visit_fields(results::JsonWriter(object["figures"] = Json::object()), figures);
  object["time_by_rank"] = ranks_of(trial);
  object["learned"] = scores_of(trial);
  object["curves"] = curves_of(trial);
  object["ops"] = ops_of(trial);
  Json& repeats = object["repeats"] = Json::array();
  for (const results::RepeatResult& repeat : trial.repeats) repeats.push_back(repeat_of(repeat));
  object["spec"] = Json::parse(spec::to_json(trial.spec));
  return object;
}

Json answer_of(const analysis::Evaluation& evaluation) {
  analysis::Answer answer = analysis::derive_answer(evaluation);
  const std::string here = analysis::with_folder(kPageFolder, answer.command);
  const bool reads_folder = here != answer.command;
  std::ranges::replace(answer.lines, answer.command, here);
  Json object = Json::object();
  const results::JsonWriter write(object);
  write("lines", answer.lines);
  write("trial", answer.trial);
  write("base", answer.base);
  if (answer.ratio) {
    write("ratio", answer.ratio->value);
    write("ratio_ci95", answer.ratio->ci95);
    write("grade", results::to_string(answer.grade));
  }
  write("waiting", answer.waiting);
  write("wait_cause", answer.wait_cause);
  write("command", here);
  write("command_reads_folder", reads_folder);
  return object;
}

// Returns up to kMostFindings findings, the costliest first.
Json findings_of(const results::Report& report) {
  Json findings = Json::array();
  for (const results::Finding* const finding : analysis::by_worth(report.findings)) {
    if (findings.size() >= kMostFindings) break;
    visit_fields(results::JsonWriter(findings.emplace_back(Json::object())), *finding);
  }
  return findings;
}

// Returns the trials in the order of their priority on the page: those of the answer, then the fastest.
std::vector<std::size_t> by_rate(const analysis::Evaluation& evaluation, const Json& answer) {
  const std::vector<results::TrialResult>& trials = evaluation.report.trials;
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_answers = [&](const Json& name) {
    return std::ranges::any_of(std::array{"trial", "base"}, [&](const char* key) {
      const auto found = answer.find(key);
      return found != answer.end() && *found == name;
    });
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) {
    return std::pair(is_answers(trials[i].name), evaluation.figures[i].images_per_s.value_or(0));
  });
  return order;
}

// Returns the trials that fit, in their order, because browsers cannot show a page of 40 MB.
Json trials_of(const analysis::Evaluation& evaluation, const Json& answer) {
  const results::Report& report = evaluation.report;
  const results::Labels labels = results::label_trials(report.trials);
  std::map<std::size_t, Json> chosen;
  std::size_t bytes = 0;
  for (const std::size_t i : by_rate(evaluation, answer)) {
    if (chosen.size() >= kLeastTrials && bytes > kMostTrialBytes) break;
    Json& trial = chosen[i] = trial_of(report.trials[i], evaluation.figures[i], label_of(labels, i));
    bytes += trial.dump(-1, ' ', false, Json::error_handler_t::replace).size();
  }
  spec::Numbering arms;  // trials that differ only in their ranks share one
  Json trials = Json::array();
  for (auto& [index, trial] : chosen) {
    spec::TrialSpec arm = report.trials[index].spec;
    spec::leave_out_ranks(arm);
    trial["arm"] = arms.of(std::move(arm));
    trials.push_back(std::move(trial));
  }
  return trials;
}

// Returns a sentence about omitted parts of the page, or "".
std::string left_out(const results::Report& report, const Json& page) {
  const std::size_t trials = page["trials"].size(), findings = page["findings"].size();
  if (trials == report.trials.size() && findings == report.findings.size()) return "";
  return fmt::format(
      "This page shows {} of {} trials, the fastest ones, and {} of {} findings, those that cost most; trials.csv and "
      "report.json have all.",
      trials, report.trials.size(), findings, report.findings.size());
}

}  // namespace

std::string page_data(const analysis::Evaluation& evaluation) {
  const results::Report& report = evaluation.report;
  const ResultTables tables = result_tables(evaluation);
  Json object = Json::object();
  object["experiment"] = report.experiment;
  object["measured"] = results::has_results(report);
  object["title"] = tables.title;
  object["notes"] = tables.notes;
  visit_fields(results::JsonWriter(object["environment"] = Json::object()), report.environment);
  object["answer"] = answer_of(evaluation);
  object["findings"] = findings_of(report);
  add_comparisons(evaluation, object);
  object["trials"] = trials_of(evaluation, object["answer"]);
  if (const std::string note = left_out(report, object); !note.empty()) object["notes"].push_back(note);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

using measure::StepTimings;

// Returns how many values to combine per point for at most `most_points`.
std::size_t values_per_point(std::size_t values, std::size_t most_points) {
  return std::max<std::size_t>(1, (values + most_points - 1) / most_points);
}

// Returns the mean of each group of `per_point` consecutive values; the last group may be smaller.
std::vector<double> means(const std::vector<double>& values, std::size_t per_point) {
  std::vector<double> points;
  for (std::size_t begin = 0; begin < values.size(); begin += per_point) {
    const std::size_t count = std::min(per_point, values.size() - begin);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    points.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0.0) /
                     static_cast<double>(count));
  }
  return points;
}

}  // namespace

StepCurve step_curve(const results::RepeatResult& repeat, std::size_t most_points) {
  std::map<int, std::vector<double>> walls_s;  // by step, of all ranks
  for (const results::StepRecord& step : repeat.steps) walls_s[step.step].push_back(step.timings.wall_s);
  StepCurve curve{.steps_per_point = values_per_point(walls_s.size(), most_points)};
  std::vector<double> point_s;
  std::size_t steps = 0;
  for (const auto& [step, of_ranks_s] : walls_s) {
    point_s.insert(point_s.end(), of_ranks_s.begin(), of_ranks_s.end());
    if (++steps % curve.steps_per_point != 0 && steps != walls_s.size()) continue;
    curve.median_s.push_back(measure::median(point_s));
    curve.slowest_s.push_back(*std::ranges::max_element(point_s));
    point_s.clear();
  }
  return curve;
}

UtilizationCurve utilization_curve(const results::RepeatResult& repeat, const results::GpuSeries& gpu,
                                   std::size_t most_points) {
  const auto window = results::measured_window(repeat, gpu.rank);
  if (!window) return {};
  UtilizationCurve all;
  for (const measure::GpuSample& sample : gpu.samples) {
    if (!sample.utilization || sample.time_s < window->begin_s || sample.time_s > window->end_s) continue;
    all.time_s.push_back(sample.time_s - window->begin_s);
    all.utilization.push_back(*sample.utilization);
  }
  const std::size_t per_point = values_per_point(all.time_s.size(), most_points);
  return {.time_s = means(all.time_s, per_point), .utilization = means(all.utilization, per_point)};
}

std::vector<QueueCurve> queue_curves(const results::RepeatResult& repeat) {
  std::map<int, std::map<int, std::vector<double>>> depths;  // by op and step, of all ranks
  for (const results::OpSample& sample : repeat.op_samples) {
    depths[sample.op_index][sample.step].push_back(static_cast<double>(sample.queue_depth));
  }
  std::vector<QueueCurve> curves;
  for (const auto& [index, by_step] : depths) {
    const auto op = static_cast<std::size_t>(index);
    if (op >= repeat.ops.size() || repeat.ops[op].queue_capacity == 0) continue;
    QueueCurve& curve = curves.emplace_back(QueueCurve{.op = repeat.ops[op].op, .depth = {}});
    for (const auto& [step, of_ranks] : by_step) curve.depth.push_back(means(of_ranks, of_ranks.size()).front());
  }
  return curves;
}

std::vector<RankTime> time_by_rank(const results::TrialResult& trial) {
  std::map<int, StepTimings> sums;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const results::StepRecord& step : repeat->steps) {
      StepTimings& sum = sums[step.rank];
      for (const auto part : measure::kStepDurations) sum.*part += step.timings.*part;
    }
  }
  std::vector<RankTime> ranks;
  for (const auto& [rank, sum] : sums) ranks.push_back({.rank = rank, .sum = sum});
  return ranks;
}

}  // namespace chexbench::report
