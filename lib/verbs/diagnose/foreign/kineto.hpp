// Steps from a trace of torch.profiler (Kineto).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "verbs/diagnose/foreign/interval_union.hpp"
#include "verbs/diagnose/foreign/trace_events.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

// A step is a ProfilerStep#N, which prof.step() ends; the last one does not count if it has no duration. Without those,
// it lasts from the first fetch of a batch after an optimizer step to the next such fetch, or from fetch to fetch if
// there are no optimizer steps either. Its wait is the time of the DataLoader's __next__ on the same thread, minus the
// time of GPU kernels in it.
class KinetoSteps : public EventSink {
 public:
  void take(const Place& place, const TraceEvent& event) override;
  void set_rank(int rank) { rank_ = rank; }              // of a distributed training, from the trace
  void set_base(double base_us) { base_us_ = base_us; }  // when the times of the trace begin
  bool recognized() const { return !threads_.empty(); }
  // @throws DataError with what to record, if the trace has no steps, or no fetches of batches
  StepLog finish(const std::string& name);

 private:
  struct Thread {
    std::vector<Interval> steps;
    std::vector<Interval> fetches;
    std::vector<double> optimizer_ends;
    std::optional<Interval> unfinished;  // a step of no duration, allowed only at the end
  };
  static std::vector<Interval> steps_by_fetch(Thread& thread);
  void append(Thread& thread, const std::vector<Interval>& steps, int rank, StepLog& log);
  void add_span(const Interval& step, StepLog& log) const;

  std::map<std::pair<TraceId, TraceId>, Thread> threads_;
  IntervalUnion gpu_busy_;
  std::size_t kept_ = 0;
  std::optional<int> rank_;
  double base_us_ = 0;
};

}  // namespace chexbench::verbs::foreign
