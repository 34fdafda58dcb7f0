#include "verbs/run/metrics_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "measure/machine.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kWriteEvery_s = 5;

// Returns a label's value escaped for quotes, in full length: two series must never have the same labels.
std::string label_text(const std::string& value) {
  std::string text;
  for (const char c : printable(value, value.max_size())) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

std::string labels_of(const results::Report& report, const results::TrialResult& trial) {
  return fmt::format(
      R"({{experiment="{}",trial="{}",pipeline="{}",format="{}",model="{}",engine="{}",precision="{}",ranks="{}"}})",
      label_text(report.experiment), label_text(trial.name), label_text(results::pipeline_name(trial.spec)),
      spec::to_string(trial.spec.data.format), label_text(trial.spec.model.name), label_text(trial.spec.engine),
      spec::to_string(trial.spec.training.precision), trial.ranks);
}

struct Value {
  std::string labels;
  double value = 0;
};

void add_gauge(std::string& text, std::string_view name, std::string_view help, const std::vector<Value>& values) {
  if (values.empty()) return;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP chexbench_{0} {1}\n# TYPE chexbench_{0} gauge\n", name, help);
  for (const Value& value : values) fmt::format_to(out, "chexbench_{}{} {}\n", name, value.labels, value.value);
}

// Returns the share of the time in which the typical repeats waited for batches. It takes microseconds, unlike all
// figures of a trial, which take milliseconds: the run waits meanwhile.
std::optional<double> wait_share_of(const results::TrialResult& trial) {
  double wait_s = 0, wall_s = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const results::StepRecord& step : repeat->steps) {
      wait_s += step.timings.wait_s;
      wall_s += step.timings.wall_s;
    }
  }
  if (wall_s <= 0) return {};
  return wait_s / wall_s;
}

// Adds the trial's known values to both figures.
void add_trial(const results::Report& report, std::size_t index, const RunStanding& standing,
               std::vector<Value>& images_per_s, std::vector<Value>& wait_share) {
  const results::TrialResult& trial = report.trials[index];
  std::optional<double> rate, wait;
  if (!trial.repeats.empty()) {
    rate = results::median_rate(trial);
    if (spec::has_engine(trial.spec)) wait = wait_share_of(trial);
  } else if (standing.now && standing.now->trial == index) {
    rate = standing.now->images_per_s;
    wait = standing.now->wait_share;
  }
  const std::string labels = labels_of(report, trial);
  if (rate) images_per_s.push_back({labels, *rate});
  if (wait) wait_share.push_back({labels, *wait});
}

}  // namespace

std::string metrics_text(const results::Report& report, const RunStanding& standing) {
  std::vector<Value> images_per_s, wait_share;
  for (std::size_t i = 0; i < report.trials.size(); ++i) add_trial(report, i, standing, images_per_s, wait_share);
  const std::string labels = fmt::format(R"({{experiment="{}"}})", label_text(report.experiment));
  std::string text;
  add_gauge(text, "images_per_second", "Images per second of all ranks of a trial.", images_per_s);
  add_gauge(text, "wait_ratio", "Share of the time in which a trial waited for batches.", wait_share);
  add_gauge(text, "repeats_done", "Repeats of all trials that are finished.",
            {{labels, static_cast<double>(standing.repeats_done)}});
  add_gauge(text, "repeats_planned", "Repeats of all trials that are planned by now.",
            {{labels, static_cast<double>(standing.repeats_total)}});
  if (standing.now && standing.now->left_s)
    add_gauge(text, "left_seconds", "Time until the end of the run, about.", {{labels, *standing.now->left_s}});
  add_gauge(text, "done", "1 once the run has ended, whether or not it failed.", {{labels, standing.done ? 1.0 : 0.0}});
  add_gauge(text, "failed", "1 once the run has ended early.", {{labels, standing.failed ? 1.0 : 0.0}});
  add_gauge(text, "updated_timestamp_seconds", "Unix time of these values.", {{labels, standing.unix_s}});
  return text + "# EOF\n";
}

MetricsFile::MetricsFile(std::string path, const results::Report& report) : path_(std::move(path)), report_(report) {
  for (const results::TrialResult& trial : report.trials)
    standing_.repeats_total += static_cast<std::size_t>(trial.spec.measure.repeats);
  standing_.unix_s = measure::unix_now_s();
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path_, error).type();
  if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket) {
    throw OutputError(
        fmt::format("--metrics {}: a pipe or socket would stop the run until somebody reads it; give the "
                    "name of a file, which is replaced with each update",
                    printable(path_)));
  }
  write();
}

void MetricsFile::update(const bench::RunState& state) {
  standing_.now = state;
  standing_.repeats_done = state.repeats_done;
  standing_.repeats_total = state.repeats_total;
  if (now_s() - written_s_ >= kWriteEvery_s) try_to_write();
}

void MetricsFile::close(bool failed) {
  standing_.now.reset();
  standing_.done = true;
  standing_.failed = failed;
  std::size_t repeats = 0;
  for (const results::TrialResult& trial : report_.trials) repeats += trial.repeats.size();
  standing_.repeats_done = repeats;
  if (!failed) standing_.repeats_total = repeats;
  try_to_write();
}

// Not synced: after a crash of the machine nobody needs the progress of the run.
void MetricsFile::write() const {
  OutputFile file(path_);
  file.write(metrics_text(report_, standing_));
  file.commit(OutputFile::Durability::renamed);
}

void MetricsFile::try_to_write() {
  written_s_ = now_s();
  standing_.unix_s = measure::unix_now_s();
  try {
    write();
  } catch (const OutputError& error) {
    if (!std::exchange(warned_, true)) log::warning("--metrics is no longer up to date: {}", error.what());
  }
}

}  // namespace chexbench::verbs
