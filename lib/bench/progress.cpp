#include "bench/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "comm/launcher.hpp"
#include "core/text.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

constexpr double kTellEvery_s = 0.1;
constexpr double kAskedEvery_s = 5;  // if lines were requested

bool is_launched() {
  return comm::find_launcher([](const char* name) { return std::getenv(name); }).has_value();
}

}  // namespace

ProgressOptions progress_options(const std::string& wanted) {
  ProgressOptions options;
  if (wanted == "never") return options;
  if (stderr_shows_status()) {
    options.shown = ProgressShown::line;
  } else if (wanted == "always") {
    options.shown = ProgressShown::lines;
    options.every_s = kAskedEvery_s;
  } else if (is_launched() || stderr_is_terminal()) {
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
  text += state.images_per_s ? rate_text(*state.images_per_s) + " images/s" : "warming up";
  if (state.wait_share) text += fmt::format(", {:.0f} % wait", 100 * *state.wait_share);
  if (state.left_s) text += ", " + time_left_text(*state.left_s, state.is_extra ? "at least" : "");
  return text;
}

Progress::Progress(const results::Report& report, ProgressOptions options, bool is_root)
    : report_(report),
      options_(is_root ? std::move(options) : ProgressOptions{}),
      line_(options_.shown == ProgressShown::line),
      time_left_(report),
      shown_s_(options_.every_s == kAskedEvery_s ? options_.clock() - kAskedEvery_s : options_.clock()) {}

void Progress::begin(std::size_t trial, int repeat) {
  trial_ = trial;
  repeat_ = repeat;
  time_left_.begin(trial, repeat, options_.clock());
}

void Progress::end(std::size_t trial, double spent_s) { time_left_.end(trial, spent_s); }

void Progress::finish(std::size_t trial) { time_left_.finish(trial); }

RunState Progress::state_after(const StepProgress& progress, double time_s) {
  RunState state{.trial = trial_,
                 .repeat = repeat_,
                 .repeats = time_left_.repeats_planned(trial_),
                 .is_extra = repeat_ >= report_.trials[trial_].spec.measure.repeats,
                 .repeats_done = time_left_.repeats_done(),
                 .repeats_total = time_left_.repeats_planned(),
                 .step = progress.step,
                 .steps = progress.total_steps};
  const results::TrialResult& trial = report_.trials[trial_];
  if (const MeasuredSoFar& measured = progress.measured; measured.wall_s > 0) {
    state.images_per_s = trial.scale_factor * static_cast<double>(measured.images) * trial.ranks / measured.wall_s;
    if (spec::has_engine(trial.spec)) state.wait_share = measured.wait_s / measured.wall_s;
  }
  state.left_s = time_left_.left_s(time_s);
  return state;
}

void Progress::show(const RunState& state, double time_s) {
  const std::string text = progress_text(state, report_.trials[state.trial].name, report_.trials.size());
  line_.show(text);
  if (options_.shown != ProgressShown::lines || time_s - shown_s_ < options_.every_s) return;
  shown_s_ = time_s;
  write_own_line(text);
}

void Progress::step(const StepProgress& progress) {
  if (options_.shown == ProgressShown::nothing && !options_.on_state) return;
  const double time_s = options_.clock();
  time_left_.step(progress, time_s);
  if (time_s - told_s_ < kTellEvery_s) return;
  told_s_ = time_s;
  const RunState state = state_after(progress, time_s);
  if (options_.shown != ProgressShown::nothing) show(state, time_s);
  if (options_.on_state) options_.on_state(state);
}

namespace {

constexpr double kKnownFrom = 0.1;  // share of a first repeat, or of its first epoch, needed to estimate its duration

// Returns the work of the first `steps` of a repeat's `all` steps, in steps, including the validations after the epochs
// that they complete.
double work_of(std::int64_t steps, std::int64_t all, const spec::TrainingSpec& training) {
  const auto own = static_cast<double>(steps);
  if (training.epochs == 0) return own;
  const std::int64_t of_epoch = std::max<std::int64_t>(1, all / training.epochs);
  const std::int64_t validated = steps / of_epoch * of_epoch;  // steps of whole epochs
  return own + validation_share(training) * static_cast<double>(validated);
}

}  // namespace

double validation_share(const spec::TrainingSpec& training) {
  if (training.epochs == 0) return 0;
  return training.validation_share / (1 - training.validation_share) / 3;
}

TimeLeft::TimeLeft(const results::Report& report) : report_(report) {
  for (const results::TrialResult& trial : report.trials)
    trials_.push_back({.done = 0, .total = trial.spec.measure.repeats, .spent_s = 0, .last_s = {}});
}

void TimeLeft::begin(std::size_t trial, int repeat, double now_s) {
  trial_ = trial;
  began_s_ = now_s;
  first_.reset();
  last_.reset();
  part_ = 1;
  trials_[trial].total = std::max(trials_[trial].total, repeat + 1);
}

void TimeLeft::step(const StepProgress& progress, double now_s) {
  if (progress.step < progress.first_step) {  // skipped steps do not predict trained ones
    began_s_ = now_s;
    return;
  }
  const spec::TrainingSpec& training = report_.trials[trial_].spec.training;
  const auto work = [&](std::int64_t steps) { return work_of(steps, progress.total_steps, training); };
  const double before = work(progress.first_step);
  const double all = std::max(1.0, work(progress.total_steps) - before);
  last_ = Mark{.time_s = now_s, .share = (work(progress.step + 1) - before) / all};
  part_ = all / std::max(1.0, work(progress.total_steps));
  if (!first_) first_ = last_;
}

void TimeLeft::end(std::size_t trial, double spent_s) {
  constexpr std::size_t kLastRepeats = 3;
  Planned& planned = trials_[trial];
  planned.total = std::max(planned.total, ++planned.done);
  planned.spent_s += spent_s;
  planned.last_s.push_back(trial == trial_ ? spent_s / part_ : spent_s);
  if (planned.last_s.size() > kLastRepeats) planned.last_s.erase(planned.last_s.begin());
  first_.reset();
  last_.reset();
  part_ = 1;
}

std::size_t TimeLeft::sum(int Planned::*count) const {
  std::size_t all = 0;
  for (const Planned& planned : trials_) all += static_cast<std::size_t>(planned.*count);
  return all;
}

// One disturbed repeat predicts nothing; two mean that the machine has become slower.
double TimeLeft::usual_s(const Planned& planned) {
  std::vector<double> last_s = planned.last_s;
  std::ranges::sort(last_s);
  return last_s[(last_s.size() - 1) / 2];
}

// Returns the time for the remaining steps of the current repeat at its pace so far. The first step does not count
// towards that pace, because it waits for the pipeline to start.
std::optional<double> TimeLeft::own_left_s(double now_s) const {
  if (last_->share <= first_->share) return {};
  const double pace_s = (last_->time_s - first_->time_s) / (last_->share - first_->share);
  return std::max(0.0, pace_s * (1 - last_->share) - (now_s - last_->time_s));
}

// Estimates a repeat without data of its trial from the others and from the current one.
std::optional<double> TimeLeft::usual_repeat_s(double now_s) const {
  double all_s = 0;
  int trials = 0;
  for (const Planned& planned : trials_) {
    if (planned.done == 0) continue;
    all_s += usual_s(planned);
    ++trials;
  }
  const double known_from = kKnownFrom / std::max(1, report_.trials[trial_].spec.training.epochs);
  const auto own_left = own_left_s(now_s);
  if (trials_[trial_].done == 0 && own_left && last_->share >= known_from) {
    all_s += (now_s - began_s_ + *own_left) / part_;
    ++trials;
  }
  if (trials == 0) return {};
  return all_s / trials;
}

double TimeLeft::total_left_s(double now_s) const {
  const auto& most_s = report_.trials[trial_].spec.measure.max_total_seconds;
  if (!most_s) return std::numeric_limits<double>::infinity();
  double spent_s = now_s - began_s_;
  for (const Planned& planned : trials_) spent_s += planned.spent_s;
  return *most_s - spent_s;
}

std::optional<double> TimeLeft::forecast_s(double now_s) const {
  const std::optional<double> usual_of_others_s = usual_repeat_s(now_s);
  if (!usual_of_others_s) return {};
  double left_s = 0;
  double least_s = 0;  // not limited by measure.max_total_seconds
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Planned& planned = trials_[i];
    double repeats = planned.total - planned.done;
    if (repeats <= 0) continue;
    double repeat_s = planned.done > 0 ? usual_s(planned) : *usual_of_others_s;
    // Its last repeat is the one that exceeds the limit.
    if (const auto& most_s = report_.trials[i].spec.measure.max_seconds)
      repeats = std::min(repeats, std::max(1.0, std::ceil((*most_s - planned.spent_s) / repeat_s)));
    double next_s = repeat_s;
    if (i == trial_) {  // what remains of the current repeat: as usual, or longer at its pace
      const double passed_s = now_s - began_s_;
      const double steps_s = repeat_s * part_ * (1 - last_->share);
      // The more of the repeat is done, the more weight its pace gets: a stall between its first steps means little.
      const double own_s = own_left_s(now_s).value_or(steps_s);
      next_s = std::max(repeat_s * part_ - passed_s, last_->share * own_s + (1 - last_->share) * steps_s);
      if (planned.done == 0) repeat_s = (passed_s + next_s) / part_;
    }
    left_s += next_s + (repeats - 1) * repeat_s;
    if (i == trial_ || planned.done == 0) least_s += next_s;
  }
  return std::min(left_s, std::max(least_s, total_left_s(now_s)));
}

// The estimate approaches the forecasts slowly, because others may disturb the run for a while.
std::optional<double> TimeLeft::left_s(double now_s) {
  constexpr double kFastest_s = 2;       // in which the estimate approaches a forecast
  constexpr double kLatestShare = 0.25;  // or in this share of the time left, if that is more
  constexpr double kFarTooShort = 1.5;   // the shown time is too short if the estimate exceeds this many times that,
  constexpr double kAndMore_s = 10;      // plus this
  const std::optional<double> forecast = last_ ? forecast_s(now_s) : std::nullopt;
  if (!forecast) return {};
  const double passed_s = now_s - std::exchange(updated_s_, now_s);
  const std::size_t repeats_before = std::exchange(known_repeats_, repeats_planned());
  const auto measured = std::ranges::count_if(trials_, [](const Planned& planned) { return planned.done > 0; });
  const std::size_t trials_before = std::exchange(known_trials_, static_cast<std::size_t>(measured));
  if (known_repeats_ != repeats_before || known_trials_ != trials_before) {
    const bool is_more = known_repeats_ > repeats_before || known_trials_ > trials_before;
    estimate_s_ = *forecast;
    return shown_s_ = is_more ? *forecast : std::min(shown_s_, *forecast);
  }
  const double slowness_s = std::max(kFastest_s, kLatestShare * estimate_s_);
  const double counted_s = estimate_s_ - passed_s;
  estimate_s_ = counted_s + (*forecast - counted_s) * (1 - std::exp(-passed_s / slowness_s));
  estimate_s_ = std::max(estimate_s_, *forecast / 2);  // keeps seconds from running out before a long step
  const bool is_far_too_short = estimate_s_ > kFarTooShort * shown_s_ + kAndMore_s;
  return shown_s_ = is_far_too_short ? estimate_s_ : std::min(shown_s_, estimate_s_);
}

}  // namespace chexbench::bench
