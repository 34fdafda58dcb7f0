// Steps from a final_summary.json of TraceML.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "verbs/diagnose/foreign/json_walk.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

// The summary has means over the steps common to all ranks: a mean step of each rank, with its wait.
class TraceMlSummary : public Visitor {
 public:
  void value(const Place& place, const Scalar& value) override;
  void closed(const Place& place) override;
  // Also recognizes the output of `traceml compare`, which finish() refuses.
  bool recognized() const { return schema_ && (is_summary_ || !compared_.empty()); }
  // @throws DataError if its version has other keys, it has no steps, or it compares two runs
  StepLog finish(const std::string& name) const;

 private:
  struct Means {
    std::optional<double> wait_ms;
    std::optional<double> step_ms;
  };

  std::optional<double> schema_;
  bool is_summary_ = false;
  std::string compared_;  // the first summary of a comparison
  std::map<int, Means> ranks_;
  std::size_t steps_ = 0;
};

}  // namespace chexbench::verbs::foreign
