// Collects the measurements of a repeat on one rank. The measured window begins when the last warm-up step ends, and
// ends with the last step, both by the device's clock. The parts of the steps therefore add up to its wall time, and
// opening it needs no synchronization.
#pragma once

#include <deque>
#include <vector>

#include "engine/engine.hpp"
#include "measure/wait_book.hpp"
#include "pipeline/pipeline.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// The time of this rank's measured steps so far, by the device's clock.
struct MeasuredSoFar {
  std::int64_t images = 0;
  double wall_s = 0;
  double wait_s = 0;
};

// Not thread-safe: only the loop's thread uses it.
class Recorder {
 public:
  // Opens the window if there are no warm-up steps. `batches_per_step` is training.accumulate_steps. The pipeline must
  // outlive the recorder.
  Recorder(const pipeline::Pipeline& pipeline, const spec::MeasureSpec& measure, int rank, int batches_per_step = 1);

  // Note that the loop asks for a batch, and then that one with `images` images has arrived. Times are by now_s().
  void batch_asked(double asked_s);
  void batch_arrived(double arrived_s, int images);
  // Records the step that finished since the last call, if any. The loop calls it after each step() and after finish()
  // of the engine.
  void look(const engine::Engine& engine);
  const MeasuredSoFar& so_far() const { return so_far_; }
  // Exclude the time between these two calls (a validation) from all figures. All steps must have finished.
  void pause();
  void go_on();
  // Closes the window and returns this rank's result; merge_ranks() combines the ranks.
  results::RepeatResult result();

 private:
  // The counters of pipeline and process at one edge of the window.
  struct Edge {
    std::vector<measure::OpCounters> ops;
    std::int64_t images_held = 0;  // in the pipeline, and in the engine for unfinished steps
    double process_cpu_s = 0;
    double cpu_wait_s = 0;
    std::uint64_t storage_read_bytes = 0;
  };
  struct StepBegun {
    double next_s = 0;
    int images = 0;
    int batches = 0;
    std::vector<measure::OpCounters> meanwhile;  // of the ops in these next_s
  };
  Edge edge() const;
  void note_meanwhile(StepBegun& step) const;
  void sample_ops(int step);

  const pipeline::Pipeline& pipeline_;
  const spec::MeasureSpec measure_;
  const int rank_;
  const int batches_per_step_;
  double asked_s_ = 0;
  std::vector<measure::OpCounters> asked_ops_;
  std::deque<StepBegun> begun_;  // but not finished, because an engine may run a step behind
  std::int64_t steps_seen_ = 0;
  Edge open_;
  Edge paused_;
  measure::WaitBook waits_;
  MeasuredSoFar so_far_;
  results::RepeatResult result_;
};

}  // namespace chexbench::bench
