// What the trials of a report say, derived once for all that is written of it: bootstraps make it take milliseconds a
// trial.
#pragma once

#include <optional>
#include <vector>

#include "analysis/ablation.hpp"
#include "analysis/comparison.hpp"
#include "analysis/second_job.hpp"
#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// A report and what is derived from it. Parts point into others, and into the report, which must outlive it. Not
// thread-safe.
struct Evaluation {
  Evaluation(const results::Report& of);  // implicit, so that a writer can be called with a report, too
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const results::Report& report;
  const std::vector<results::Figures> figures;  // of each trial
  const Trials measured;
  const std::vector<SecondJobCost> second_jobs;

  // Derived by the first call, because they take as long as the rest and not every form of a report has them.
  const std::vector<Ablation>& ablations() const;

 private:
  mutable std::optional<std::vector<Ablation>> ablations_;
};

}  // namespace chexbench::analysis
