// Shows the progress of a run to people and programs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "bench/step_observer.hpp"
#include "bench/time_left.hpp"
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

// Returns "[7/48] naive png ranks=2, repeat 1 of 6, step 4 of 15: 545 images/s, 27 % wait, 3 min left". Pure.
std::string progress_text(const RunState& state, const std::string& trial, std::size_t trials);

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
