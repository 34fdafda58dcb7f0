#include "bench/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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
  text += state.images_per_s ? fmt::format("{:.{}f} images/s", *state.images_per_s, *state.images_per_s < 100 ? 1 : 0)
                             : "warming up";
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

}  // namespace chexbench::bench
