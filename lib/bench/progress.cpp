#include "bench/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "comm/launcher.hpp"
#include "core/clock.hpp"
#include "core/text.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

constexpr double kTellEvery_s = 0.1;
constexpr double kAskedEvery_s = 5;  // where lines were asked for

// Returns the work of the first `steps` of a repeat's `all` steps, in steps: their own, and that of the validations
// after the epochs that they complete.
double work_of(std::int64_t steps, std::int64_t all, const spec::TrainingSpec& training) {
  const auto own = static_cast<double>(steps);
  if (training.epochs == 0) return own;
  const std::int64_t of_epoch = std::max<std::int64_t>(1, all / training.epochs);
  const std::int64_t epochs_done = steps / of_epoch;
  return own + validation_share(training) * static_cast<double>(epochs_done * of_epoch);
}

bool is_launched() {
  return comm::find_launcher([](const char* name) { return std::getenv(name); }).has_value();
}

}  // namespace

ProgressOptions progress_options(const std::string& wanted) {
  ProgressOptions options;
  if (wanted == "never") return options;
  if (stderr_is_terminal()) {
    options.shown = ProgressShown::line;
  } else if (wanted == "always") {
    options.shown = ProgressShown::lines;
    options.every_s = kAskedEvery_s;
  } else if (is_launched()) {
    options.shown = ProgressShown::lines;
  }
  return options;
}

std::string progress_text(const RunState& state, const std::string& trial, std::size_t trials) {
  const std::string name = trials > 1 ? trial + ", " : "";
  const std::string_view why = state.is_extra ? " as rates vary" : "";
  std::string text =
      fmt::format("[{}/{}] {}repeat {} of {}{}, step {} of {}: ", state.repeats_done + 1, state.repeats_total, name,
                  state.repeat + 1, state.repeats, why, state.step + 1, state.steps);
  text += state.images_per_s ? fmt::format("{:.{}f} images/s", *state.images_per_s, *state.images_per_s < 100 ? 1 : 0)
                             : "warming up";
  if (state.wait_share) text += fmt::format(", {:.0f} % wait", 100 * *state.wait_share);
  if (state.left_s) text += fmt::format(", {}{} left", state.is_extra ? "at least " : "", duration_text(*state.left_s));
  return text;
}

double validation_share(const spec::TrainingSpec& training) {
  if (training.epochs == 0) return 0;
  return training.validation_share / (1 - training.validation_share) / 3;
}

Progress::Progress(const results::Report& report, ProgressOptions options, bool is_root)
    : report_(report),
      options_(is_root ? std::move(options) : ProgressOptions{}),
      line_(options_.shown == ProgressShown::line),
      shown_s_(options_.every_s == kAskedEvery_s ? 0 : now_s()) {
  for (const results::TrialResult& trial : report.trials)
    trials_.push_back({.done = 0, .total = trial.spec.measure.repeats, .spent_s = 0});
}

void Progress::begin(std::size_t trial, int repeat) {
  trial_ = trial;
  repeat_ = repeat;
  began_s_ = now_s();
  trials_[trial].total = std::max(trials_[trial].total, repeat + 1);
}

void Progress::end(std::size_t trial, double spent_s) {
  Planned& planned = trials_[trial];
  planned.total = std::max(planned.total, ++planned.done);
  planned.spent_s += spent_s;
}

void Progress::finish(std::size_t trial) { trials_[trial].total = trials_[trial].done; }

// The time that the repeats to come take, each as long as those of its trial did or, before there are any, as those of
// all trials did. The first repeat of a training over epochs shows it after a tenth of an epoch, for epochs are alike.
std::optional<double> Progress::left_s(const StepProgress& progress) const {
  const spec::TrainingSpec& training = report_.trials[trial_].spec.training;
  const auto work = [&](std::int64_t steps) { return work_of(steps, progress.total_steps, training); };
  const double all_work = std::max(1.0, work(progress.total_steps));
  const double share = (work(progress.step + 1) - work(progress.first_step)) / all_work;
  if (share <= 0) return {};
  const double now_spent_s = now_s() - began_s_;
  double all_s = now_spent_s / share;
  double all_done = 1;
  for (const Planned& planned : trials_) {
    all_s += planned.spent_s;
    all_done += planned.done;
  }
  const bool is_known = all_done > 1 || share >= 0.1 / std::max(1, training.epochs);
  if (!is_known) return {};
  double left_s = 0;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Planned& planned = trials_[i];
    const double repeat_s = planned.done > 0 ? planned.spent_s / planned.done : all_s / all_done;
    double trial_left_s = repeat_s * (planned.total - planned.done);
    if (i == trial_) {
      const double passed_s = now_spent_s + repeat_s * work(progress.first_step) / all_work;
      trial_left_s = std::max(repeat_s - passed_s, 0.0) + repeat_s * (planned.total - planned.done - 1);
    }
    if (const auto& most_s = report_.trials[i].spec.measure.max_seconds)
      trial_left_s = std::min(trial_left_s, std::max(repeat_s, *most_s - planned.spent_s));
    left_s += std::max(0.0, trial_left_s);
  }
  return left_s;
}

RunState Progress::state_after(const StepProgress& progress) const {
  RunState state{.trial = trial_,
                 .repeat = repeat_,
                 .repeats = trials_[trial_].total,
                 .is_extra = repeat_ >= report_.trials[trial_].spec.measure.repeats,
                 .step = progress.step,
                 .steps = progress.total_steps};
  for (const Planned& planned : trials_) {
    state.repeats_done += static_cast<std::size_t>(planned.done);
    state.repeats_total += static_cast<std::size_t>(planned.total);
  }
  const results::TrialResult& trial = report_.trials[trial_];
  if (const MeasuredSoFar& measured = progress.measured; measured.wall_s > 0) {
    state.images_per_s = trial.scale_factor * static_cast<double>(measured.images) * trial.ranks / measured.wall_s;
    if (spec::has_engine(trial.spec)) state.wait_share = measured.wait_s / measured.wall_s;
  }
  state.left_s = left_s(progress);
  return state;
}

void Progress::show(const RunState& state) {
  const std::string text = progress_text(state, report_.trials[state.trial].trial, report_.trials.size());
  line_.show(text);
  if (options_.shown != ProgressShown::lines || now_s() - shown_s_ < options_.every_s) return;
  shown_s_ = now_s();
  write_own_line(text);
}

void Progress::step(const StepProgress& progress) {
  if (options_.shown == ProgressShown::nothing && !options_.on_state) return;
  if (progress.step < progress.first_step) began_s_ = now_s();  // what is passed over is no measure of what is trained
  if (now_s() - told_s_ < kTellEvery_s) return;
  told_s_ = now_s();
  const RunState state = state_after(progress);
  if (options_.shown != ProgressShown::nothing) show(state);
  if (options_.on_state) options_.on_state(state);
}

}  // namespace chexbench::bench
