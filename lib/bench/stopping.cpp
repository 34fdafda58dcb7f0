#include "bench/stopping.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <iterator>
#include <limits>
#include <mutex>
#include <span>

#include "core/clock.hpp"
#include "core/interrupt.hpp"
#include "measure/statistics.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"

namespace chexbench::bench {
namespace {

// Returns whether the trial has had its extra repeats.
bool is_extra_spent(const results::TrialResult& trial) {
  const spec::MeasureSpec& measure = trial.spec.measure;
  const std::ptrdiff_t extra = std::ssize(trial.repeats) - measure.repeats;
  if (extra < measure.extra_repeats) return false;
  const std::span<const results::RepeatResult> repeats(trial.repeats);
  double extra_s = 0;
  for (const results::RepeatResult& repeat : repeats.subspan(static_cast<std::size_t>(measure.repeats)))
    extra_s += repeat.spent_s;
  return extra_s >= kCheapExtraSeconds || extra >= kCheapExtra * measure.extra_repeats;
}

double spent_s(const results::TrialResult& trial) {
  double sum_s = 0;
  for (const results::RepeatResult& repeat : trial.repeats) sum_s += repeat.spent_s;
  return sum_s;
}

bool is_time_up(const spec::MeasureSpec& measure, const TimeSpent& spent) {
  return (measure.max_seconds && spent.trial_s >= *measure.max_seconds) || is_total_spent(measure, spent);
}

}  // namespace

double relative_error(const std::vector<double>& images_per_s) {
  const auto interval = measure::bootstrap_median_ci95(images_per_s);
  if (!interval) return std::numeric_limits<double>::infinity();
  return 0.5 * (interval->high - interval->low) / measure::median(images_per_s);
}

TimeSpent time_spent(const results::Report& report, const results::TrialResult& trial, double share) {
  TimeSpent spent{.trial_s = spent_s(trial), .share = share};
  for (const results::TrialResult& each : report.trials) spent.all_s += spent_s(each);
  return spent;
}

bool is_total_spent(const spec::MeasureSpec& measure, const TimeSpent& spent) {
  return measure.max_total_seconds && spent.all_s >= spent.share * *measure.max_total_seconds;
}

bool is_finished(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s, const TimeSpent& spent) {
  if (images_per_s.size() >= static_cast<std::size_t>(measure.repeats)) return true;
  if (images_per_s.empty()) return false;
  if (is_time_up(measure, spent)) return true;
  return measure.relative_error && relative_error(images_per_s) <= *measure.relative_error;
}

bool is_cut_short(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s) {
  const bool is_precise = measure.relative_error && relative_error(images_per_s) <= *measure.relative_error;
  return images_per_s.size() < static_cast<std::size_t>(measure.repeats) && !is_precise;
}

bool is_unstable(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s) {
  const double error = relative_error(images_per_s);
  if (measure.relative_error && error > *measure.relative_error) return true;
  if (std::isfinite(error) && error > measure.relative_error.value_or(kStableError)) return true;
  if (images_per_s.empty()) return false;
  const double median = measure::median(images_per_s);
  return std::ranges::any_of(images_per_s, [&](double rate) { return std::abs(rate - median) > kOutlier * median; });
}

bool wants_extra_round(const results::TrialResult& trial, const TimeSpent& spent) {
  const spec::MeasureSpec& measure = trial.spec.measure;
  if (measure.repeats < spec::kRepeatsForInterval || measure.relative_error || trial.spec.training.epochs > 0)
    return false;
  if (is_extra_spent(trial)) return false;
  if (is_time_up(measure, spent)) return false;
  const auto undisturbed = std::ranges::count_if(
      trial.repeats, [](const results::RepeatResult& repeat) { return !results::is_disturbed(repeat); });
  return trial.unstable || undisturbed < measure.repeats;
}

InterruptWatch::InterruptWatch(pipeline::Pipeline& pipeline, std::optional<double> stop_at_s)
    : thread_([&pipeline, stop_at_s](std::stop_token stop) {
        const auto must_stop = [&] { return interrupt_requested() || (stop_at_s && now_s() >= *stop_at_s); };
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          // A signal handler may not notify a condition variable, hence the polling; 20 Hz costs nothing.
          wake.wait_for(lock, stop, std::chrono::milliseconds(50), must_stop);
          if (must_stop()) {
            pipeline.stop();
            return;
          }
        }
      }) {}

}  // namespace chexbench::bench
