#include "bench/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace chexbench::bench {
namespace {

constexpr double kFastest_s = 2;       // in which the countdown approaches a forecast
constexpr double kLatestShare = 0.25;  // or in this share of the time left, if that is more
constexpr double kFarTooShort = 1.5;   // the shown time is too short if the estimate exceeds this many times that,
constexpr double kAndMore_s = 10;      // plus this
constexpr double kKnownFrom = 0.1;  // share of a first repeat, or of its first epoch, needed to estimate its duration
constexpr std::size_t kLastRepeats = 3;

// Returns the work of the first `steps` of a repeat's `all` steps, in steps, including the validations after the epochs
// that they complete.
double work_of(std::int64_t steps, std::int64_t all, const spec::TrainingSpec& training) {
  const auto own = static_cast<double>(steps);
  if (training.epochs == 0) return own;
  const std::int64_t of_epoch = std::max<std::int64_t>(1, all / training.epochs);
  const std::int64_t epochs_done = steps / of_epoch;
  return own + validation_share(training) * static_cast<double>(epochs_done * of_epoch);
}

}  // namespace

double validation_share(const spec::TrainingSpec& training) {
  if (training.epochs == 0) return 0;
  return training.validation_share / (1 - training.validation_share) / 3;
}

double Countdown::update(double now_s, double forecast_s, const Known& known) {
  const double passed_s = now_s - std::exchange(updated_s_, now_s);
  const Known before = std::exchange(known_, known);
  if (known != before) {
    const bool is_more = known.repeats > before.repeats || known.trials > before.trials;
    estimate_s_ = forecast_s;
    shown_s_ = is_more ? forecast_s : std::min(shown_s_, forecast_s);
    return shown_s_;
  }
  const double slowness_s = std::max(kFastest_s, kLatestShare * estimate_s_);
  const double counted_s = estimate_s_ - passed_s;
  estimate_s_ = counted_s + (forecast_s - counted_s) * (1 - std::exp(-passed_s / slowness_s));
  estimate_s_ = std::max(estimate_s_, forecast_s / 2);  // keeps a countdown of seconds from ending before a long step
  const bool is_far_too_short = estimate_s_ > kFarTooShort * shown_s_ + kAndMore_s;
  shown_s_ = is_far_too_short ? estimate_s_ : std::min(shown_s_, estimate_s_);
  return shown_s_;
}

TimeLeft::TimeLeft(const results::Report& report) : report_(report) {
  for (const results::TrialResult& trial : report.trials)
    trials_.push_back({.done = 0, .total = trial.spec.measure.repeats, .spent_s = 0, .last = {}});
}

void TimeLeft::begin(std::size_t trial, int repeat, double now_s) {
  trial_ = trial;
  began_s_ = now_s;
  forget_steps();
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
  Planned& planned = trials_[trial];
  planned.total = std::max(planned.total, ++planned.done);
  planned.spent_s += spent_s;
  Repeat repeat{.spent_s = spent_s, .steps_s = spent_s, .tail_s = 0};
  if (trial == trial_ && last_) {
    repeat.spent_s = spent_s / part_;
    repeat.steps_s = (last_->time_s - first_->time_s) / part_;
    repeat.tail_s = std::max(0.0, spent_s - (last_->time_s - began_s_));
  }
  planned.last.push_back(repeat);
  if (planned.last.size() > kLastRepeats) planned.last.erase(planned.last.begin());
  forget_steps();
}

void TimeLeft::forget_steps() {
  first_.reset();
  last_.reset();
  part_ = 1;
}

void TimeLeft::finish(std::size_t trial) { trials_[trial].total = trials_[trial].done; }

std::size_t TimeLeft::repeats_done() const {
  std::size_t all = 0;
  for (const Planned& planned : trials_) all += static_cast<std::size_t>(planned.done);
  return all;
}

std::size_t TimeLeft::repeats_planned() const {
  std::size_t all = 0;
  for (const Planned& planned : trials_) all += static_cast<std::size_t>(planned.total);
  return all;
}

// One disturbed repeat predicts nothing; two mean that the machine has become slower.
TimeLeft::Repeat TimeLeft::typical(const Planned& planned) {
  std::vector<Repeat> last = planned.last;
  std::ranges::sort(last, {}, &Repeat::spent_s);
  return last[(last.size() - 1) / 2];
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
    all_s += typical(planned).spent_s;
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

// The more of the repeat is done, the more weight its pace gets.
double TimeLeft::repeat_left_s(const Repeat& usual, double now_s) const {
  const double whole_s = usual.spent_s * part_ - (now_s - began_s_);
  const double steps_s = usual.steps_s * part_ * (1 - last_->share);
  const double as_usual_s = std::max(whole_s, steps_s + usual.tail_s);
  const auto own_s = own_left_s(now_s);
  if (!own_s) return as_usual_s;
  return last_->share * (*own_s + usual.tail_s) + (1 - last_->share) * as_usual_s;
}

double TimeLeft::total_left_s(double now_s) const {
  const auto& most_s = report_.trials[trial_].spec.measure.max_total_seconds;
  if (!most_s) return std::numeric_limits<double>::infinity();
  double spent_s = now_s - began_s_;
  for (const Planned& planned : trials_) spent_s += planned.spent_s;
  return *most_s - spent_s;
}

std::optional<double> TimeLeft::forecast_s(double now_s) const {
  const std::optional<double> usual_s = usual_repeat_s(now_s);
  if (!usual_s) return {};
  double left_s = 0;
  double least_s = 0;  // not limited by measure.max_total_seconds
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Planned& planned = trials_[i];
    double repeats = planned.total - planned.done;
    if (repeats <= 0) continue;
    const Repeat usual = planned.done > 0 ? typical(planned) : Repeat{.spent_s = *usual_s, .steps_s = *usual_s};
    // Its last repeat is the one that exceeds the limit.
    if (const auto& most_s = report_.trials[i].spec.measure.max_seconds)
      repeats = std::min(repeats, std::max(1.0, std::ceil((*most_s - planned.spent_s) / usual.spent_s)));
    if (i != trial_) {
      left_s += repeats * usual.spent_s;
      if (planned.done == 0) least_s += usual.spent_s;
      continue;
    }
    const double now_left_s = repeat_left_s(usual, now_s);
    const double repeat_s = planned.done > 0 ? usual.spent_s : (now_s - began_s_ + now_left_s) / part_;
    left_s += now_left_s + (repeats - 1) * repeat_s;
    least_s += now_left_s;
  }
  return std::min(left_s, std::max(least_s, total_left_s(now_s)));
}

std::optional<double> TimeLeft::left_s(double now_s) {
  if (!last_) return {};
  const std::optional<double> forecast = forecast_s(now_s);
  if (!forecast) return {};
  const auto measured = std::ranges::count_if(trials_, [](const Planned& planned) { return planned.done > 0; });
  return countdown_.update(now_s, *forecast, {repeats_planned(), static_cast<std::size_t>(measured)});
}

namespace {

constexpr int kBatchesBefore = 2;
constexpr int kBatches = 4;

double rate(std::int64_t images, double time_s) { return time_s > 0 ? static_cast<double>(images) / time_s : 0; }

}  // namespace

std::optional<double> RateWindow::take(std::int64_t images, double arrived_s) {
  ++batches_;
  if (!is_open_) {
    images_before_ += images;
    if (batches_ < kBatchesBefore || images_before_ < plan_.images_ahead) return {};
    is_open_ = true;
    open_s_ = arrived_s;
    batches_ = 0;
    return {};
  }
  images_ += images;
  const double lasted_s = arrived_s - open_s_;
  if (batches_ < kBatches || images_ < plan_.images_ahead || lasted_s < plan_.window_s) return {};
  return rate(images_, lasted_s);
}

double RateWindow::end(double now_s) const {
  return images_ > 0 ? rate(images_, now_s - open_s_) : rate(images_before_, now_s - begin_s_);
}

}  // namespace chexbench::bench
