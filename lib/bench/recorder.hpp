// Collects what a repeat measures on one rank. The measured window reaches from the end of the last warm-up step to
// the end of the last step, on the device's clock: so the parts of the steps sum to its wall time, and no
// synchronization is needed to open it.
#pragma once

#include <deque>
#include <vector>

#include "engine/engine.hpp"
#include "measure/wait_book.hpp"
#include "pipeline/pipeline.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Used by the thread that runs the loop.
class Recorder {
 public:
  // With no warm-up steps the window opens here. `batches_per_step`: training.accumulate_steps.
  Recorder(const pipeline::Pipeline& pipeline, const spec::MeasureSpec& measure, int rank, int batches_per_step = 1);

  // A batch is asked for; then one of `images` came (host clock).
  void batch_asked(double asked_s);
  void batch_arrived(double arrived_s, int images);
  // To be called after each step() and after finish(): takes over the step that has finished since, if any.
  void look(const engine::Engine& engine);
  // What happens between these is in no figure: a validation. No step may be unfinished.
  void pause();
  void go_on();
  // Closes the window. Only figures of this rank are filled.
  results::RepeatResult result();

 private:
  // Pipeline and process as they stand at one edge of the window.
  struct Edge {
    std::vector<measure::OpCounters> ops;
    std::int64_t images_held = 0;  // by the pipeline, and by the engine for steps that are not finished
    double process_cpu_s = 0;
    double cpu_wait_s = 0;
    std::uint64_t storage_read_bytes = 0;
  };
  struct StepBegun {
    double next_s = 0;
    int images = 0;
    int batches = 0;
    std::vector<measure::OpCounters> meanwhile;  // what ops did in those next_s
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
  std::deque<StepBegun> begun_;  // and not yet finished: an engine may be a step behind
  std::int64_t steps_seen_ = 0;
  Edge open_;
  Edge paused_;
  measure::WaitBook waits_;
  results::RepeatResult result_;
};

}  // namespace chexbench::bench
