// Steps from traces in Chrome's format, a list of events, or an object with one: of torch.profiler and Horovod.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "verbs/diagnose/foreign/streamed_json.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

struct Interval {
  double begin = 0;
  double end = 0;
};

// The union of many spans of time, in bounded memory.
class IntervalUnion {
 public:
  // Adds a span, in any order. Beyond kMost disjoint spans, the nearest ones are joined.
  void add(double begin, double end);
  // Returns how much of the span is covered.
  double covered(double begin, double end);
  // Returns the spans covered here but not there.
  IntervalUnion without(IntervalUnion& other);
  bool empty() const { return spans_.empty(); }

  static constexpr std::size_t kMost = 2'000'000;

 private:
  void order();
  void join(double gap);

  std::vector<Interval> spans_;
  std::vector<double> before_;  // the length of all spans before each one; empty while unsorted
  double joined_gap_ = 0;
};

using TraceId = std::variant<double, std::string>;  // a process or thread: the format allows numbers and names

struct TraceEvent {
  std::string phase;
  std::string name;
  std::string category;
  std::optional<double> begin_us;
  std::optional<double> duration_us;
  TraceId process;
  TraceId thread;
};

// The times of an event. Messages name its place.
// @throws DataError if they are missing, or impossibly long
double begin_us(const Place& place, const TraceEvent& event);
double end_us(const Place& place, const TraceEvent& event);

// Assembles events from the values of a file, and passes each to `take`.
class TraceEvents {
 public:
  using Take = std::function<void(const Place&, const TraceEvent&)>;

  explicit TraceEvents(Take take) : take_(std::move(take)) {}
  void value(const Place& place, const Scalar& value);
  void closed(const Place& place);
  bool seen() const { return seen_; }  // an event

 private:
  Take take_;
  TraceEvent event_;
  bool seen_ = false;
};

// The steps of a trace of torch.profiler (Kineto). A step is a ProfilerStep#N, which prof.step() ends; the last one
// does not count if it has no duration. Without those, it lasts from the first fetch of a batch after an optimizer step
// to the next such fetch, or from fetch to fetch if there are no optimizer steps either. Its wait is the time of the
// DataLoader's __next__ on the same thread, minus the time of GPU kernels in it.
class KinetoSteps {
 public:
  void take(const Place& place, const TraceEvent& event);
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

// The steps of a timeline of Horovod, which has only the coordination by rank 0: for each tensor (a process of the
// trace), when the first rank had it (B NEGOTIATE_*), when all had it (E), and when it was reduced (a further B and E).
// A step ends when the last of its tensors is reduced; the next one begins with the first repeated tensor. Until all
// ranks have the first gradient of a step, they fetch their batch and compute. The excess of that time over the
// shortest step's is a lower bound of the slowest rank's wait.
class HorovodSteps {
 public:
  void take(const Place& place, const TraceEvent& event);
  bool recognized() const { return seen_; }
  // @throws DataError if there are fewer than two steps
  StepLog finish(const std::string& name);

 private:
  struct Step {
    std::optional<double> ready_us;  // all ranks have the first tensor
    double end_us = 0;
  };
  void begin(const Place& place, const TraceEvent& event, double at_us);
  void end(const TraceEvent& event, double at_us);

  bool seen_ = false;
  std::set<TraceId> reduced_;      // tensors of this step
  std::set<TraceId> negotiating_;  // not yet reported by all ranks
  std::vector<Step> steps_;
};

}  // namespace chexbench::verbs::foreign
