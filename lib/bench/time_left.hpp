// Forecasts how long a run over several trials still takes, so steadily that a person can plan by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/step_observer.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Returns how long the validation after an epoch takes, as a share of the time of the epoch's steps, where computing
// limits both: forward alone is about a third of the operations of forward and backward. 0 without epochs.
double validation_share(const spec::TrainingSpec& training);

// Counts down from a forecast, which it approaches slowly when others disturb the run. The time left rises if more work
// is known, and else only if what is shown has become far too short, as on a machine that has become slower for good.
// Not thread-safe.
class Countdown {
 public:
  // What a forecast knows of the work.
  struct Known {
    std::size_t repeats = 0;  // those planned, of all trials
    std::size_t trials = 0;   // those of which a repeat is done
    bool operator==(const Known&) const = default;
  };
  // Takes over what was forecast at `now_s`, and returns what to show.
  double update(double now_s, double forecast_s, const Known& known);

 private:
  double updated_s_ = 0;
  double estimate_s_ = 0;
  double shown_s_ = 0;
  Known known_;  // no repeat before the first update
};

// The time that the repeats to come take, each as long as those of its trial did or, before there are any, as those of
// the others did. Times are those of any one clock. Not thread-safe.
class TimeLeft {
 public:
  // The report must outlive this object.
  explicit TimeLeft(const results::Report& report);

  void begin(std::size_t trial, int repeat, double now_s);
  // Takes over a step of the repeat that has begun last.
  void step(const StepProgress& progress, double now_s);
  // The repeat has ended, or was taken from an earlier run, and took `spent_s`.
  void end(std::size_t trial, double spent_s);
  // The trial gets no further repeat for now.
  void finish(std::size_t trial);

  std::size_t repeats_done() const;
  std::size_t repeats_planned() const;  // of all trials
  int repeats_planned(std::size_t trial) const { return trials_[trial].total; }

  // Returns the time left after the last step, which must have been told; std::nullopt before a repeat has shown how
  // long it takes: the first one of a training over epochs after a tenth of an epoch, for epochs are alike.
  std::optional<double> left_s(double now_s);

 private:
  struct Repeat {
    double spent_s = 0;
    double steps_s = 0;  // from its first step to its last one
    double tail_s = 0;   // after that
  };
  struct Planned {
    int done = 0;
    int total = 0;
    double spent_s = 0;
    std::vector<Repeat> last;  // at most three
  };
  // A step of the repeat that is under way: when it ended, and the share of the repeat's work that was done then.
  struct Mark {
    double time_s = 0;
    double share = 0;
  };
  void forget_steps();
  static Repeat typical(const Planned& planned);
  std::optional<double> own_left_s(double now_s) const;
  std::optional<double> usual_repeat_s(double now_s) const;
  double repeat_left_s(const Repeat& usual, double now_s) const;
  double total_left_s(double now_s) const;  // of measure.max_total_seconds
  std::optional<double> forecast_s(double now_s) const;

  const results::Report& report_;
  std::vector<Planned> trials_;  // as in the report
  std::size_t trial_ = 0;
  double began_s_ = 0;
  std::optional<Mark> first_, last_;
  double part_ = 1;  // of the repeat's work that is done in this run: less than 1 if an earlier one trained some steps
  Countdown countdown_;
};

// The rate of a pipeline in a window that begins once it delivers no longer what it had read ahead.

struct WindowPlan {
  double window_s = 0.3;  // how long a window lasts at least
  // Images that the pipeline may have read ahead when it starts to deliver: as many come before the window, as they
  // tell nothing of how fast it reads, and as many in it, so that it has all phases of reading in equal shares.
  std::int64_t images_ahead = 0;
};

// Is told of each batch. Knows no clock.
class RateWindow {
 public:
  RateWindow(const WindowPlan& plan, double begin_s) : plan_(plan), begin_s_(begin_s), open_s_(begin_s) {}

  // Takes a batch of so many images. Returns the images/s of the window if it is complete.
  std::optional<double> take(std::int64_t images, double arrived_s);
  // Returns the rate if the pipeline ends now: that of the window so far, or of everything if it did not open.
  double end(double now_s) const;

 private:
  const WindowPlan plan_;
  const double begin_s_;
  double open_s_;
  bool is_open_ = false;
  int batches_ = 0;  // before the window or in it
  std::int64_t images_ = 0, images_before_ = 0;
};

}  // namespace chexbench::bench
