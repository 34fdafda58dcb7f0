// Steps from a timeline of Horovod.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verbs/diagnose/foreign/trace_events.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

// A timeline has only the coordination by rank 0: for each tensor (a process of the trace), when the first rank had it
// (B NEGOTIATE_*), when all had it (E), and when it was reduced (a further B and E). A step ends when the last of its
// tensors is reduced; the next one begins with the first repeated tensor. Until all ranks have the first gradient of a
// step, they fetch their batch and compute. The excess of that time over the shortest step's is a lower bound of the
// slowest rank's wait.
class HorovodSteps : public EventSink {
 public:
  void take(const Place& place, const TraceEvent& event) override;
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
