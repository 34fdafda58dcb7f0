// Shows the progress of a run to people and programs, and forecasts the time left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/step_observer.hpp"
#include "core/clock.hpp"
#include "core/terminal.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// The progress of a run, as seen by rank 0. Figures are those of the current repeat.
struct RunState {
  std::size_t trial = 0;          // index in the report
  int repeat = 0;                 // of the trial, from 0
  int repeats = 0;                // of the trial, as planned so far
  bool is_extra = false;          // the repeat exceeds those requested in the spec, and more may follow
  std::size_t repeats_done = 0;   // of all trials, including earlier runs
  std::size_t repeats_total = 0;  // of all trials; fewer if trials end early
  std::int64_t step = 0;          // from 0
  std::int64_t steps = 0;
  std::optional<double> images_per_s;  // of all ranks, assuming rank 0's speed; empty before the measured steps
  std::optional<double> wait_share;    // also empty for engine none, which only waits
  std::optional<double> left_s;        // estimate until the run's end; empty until a repeat allows one
};

// The form of progress on standard error.
enum class ProgressShown {
  nothing,
  line,   // one line that is overwritten, for a terminal
  lines,  // a new line every ProgressOptions::every_s seconds
};

struct ProgressOptions {
  ProgressShown shown = ProgressShown::nothing;
  double every_s = 30;
  std::function<void(const RunState&)>
      on_state;  // called up to ten times a second, on the thread that trains; or empty
  std::function<double()> clock = now_s;
};

// Interprets `wanted`, the value of --progress, for this process. `always` shows progress: on a terminal, even one that
// mpirun forwards to, as one line, and elsewhere as a line every 5 s. `auto` shows it on a terminal and, to avoid
// minutes of silence, as a line every 30 s on a dumb one and where a launcher may be between this process and a
// terminal. `never` shows nothing.
ProgressOptions progress_options(const std::string& wanted);

// Returns "[7/48] naive images ranks=2, repeat 1 of 6, step 4 of 15: 545 images/s, 27 % wait, 3 min left". Pure.
std::string progress_text(const RunState& state, const std::string& trial, std::size_t trials);

// Returns the time of the validation after an epoch as a share of the time of the epoch's steps, if computing limits
// both: forward is about a third of the operations of forward and backward. 0 without epochs.
double validation_share(const spec::TrainingSpec& training);

// The time left of a run, in which each remaining repeat takes as long as those of its trial or, before there are any,
// as those of the others. It falls steadily: it rises only if more work becomes known, or if it is far too short, as on
// a machine that has become slower. All times are from one arbitrary clock. Not thread-safe.
class TimeLeft {
 public:
  // The report must outlive this object.
  explicit TimeLeft(const results::Report& report);

  void begin(std::size_t trial, int repeat, double now_s);
  // Records a step of the current repeat.
  void step(const StepProgress& progress, double now_s);
  // The repeat ended, or was taken from an earlier run, and took `spent_s`.
  void end(std::size_t trial, double spent_s);
  // No further repeat of the trial is planned.
  void finish(std::size_t trial) { trials_[trial].total = trials_[trial].done; }

  std::size_t repeats_done() const { return sum(&Planned::done); }
  std::size_t repeats_planned() const { return sum(&Planned::total); }  // of all trials
  int repeats_planned(std::size_t trial) const { return trials_[trial].total; }

  // Returns the time left after the last step, which must have been recorded; std::nullopt until a repeat allows an
  // estimate: in a training over epochs after a tenth of the first epoch, because epochs are alike.
  std::optional<double> left_s(double now_s);

 private:
  struct Planned {
    int done = 0;
    int total = 0;
    double spent_s = 0;
    std::vector<double> last_s;  // of its last three repeats
  };
  // A step of the current repeat: its end, and the share of the repeat's work done by then.
  struct Mark {
    double time_s = 0;
    double share = 0;
  };
  std::size_t sum(int Planned::*count) const;
  static double usual_s(const Planned& planned);
  std::optional<double> own_left_s(double now_s) const;
  std::optional<double> usual_repeat_s(double now_s) const;
  double total_left_s(double now_s) const;  // of measure.max_total_seconds
  std::optional<double> forecast_s(double now_s) const;

  const results::Report& report_;
  std::vector<Planned> trials_;  // as in the report
  std::size_t trial_ = 0;
  double began_s_ = 0;
  std::optional<Mark> first_, last_;
  double part_ = 1;  // share of the repeat's work in this run: below 1 if an earlier run trained some steps
  // What left_s() returned last, and the estimate that it follows, which approaches the forecasts.
  double updated_s_ = 0, shown_s_ = 0, estimate_s_ = 0;
  std::size_t known_repeats_ = 0, known_trials_ = 0;  // repeats planned, and trials with a finished repeat, then
};

// Follows a run over `report.trials`. Not thread-safe.
class Progress {
 public:
  // The report must outlive this object. Without `is_root`, nothing is shown or reported.
  Progress(const results::Report& report, ProgressOptions options, bool is_root);

  // A repeat of the trial begins.
  void begin(std::size_t trial, int repeat);
  void step(const StepProgress& progress);
  // The repeat ended, or was taken from an earlier run, and took `spent_s`.
  void end(std::size_t trial, double spent_s);
  // No further repeat of the trial is planned.
  void finish(std::size_t trial);

 private:
  RunState state_after(const StepProgress& progress, double time_s);
  void show(const RunState& state, double time_s);

  const results::Report& report_;
  const ProgressOptions options_;
  StatusLine line_;
  TimeLeft time_left_;
  std::size_t trial_ = 0;
  int repeat_ = 0;
  double told_s_ = 0;
  double shown_s_ = 0;
};

}  // namespace chexbench::bench
