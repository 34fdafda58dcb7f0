// Derives figures and findings of a report once for all its outputs: bootstraps take milliseconds per trial.
#pragma once

#include <optional>
#include <vector>

#include "analysis/ablation.hpp"
#include "analysis/comparison.hpp"
#include "analysis/second_job.hpp"
#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// A report and the data derived from it. Parts point into each other and into the report, which must outlive it. Not
// thread-safe.
struct Evaluation {
  Evaluation(const results::Report& of);  // implicit, so that writers also accept a report
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const results::Report& report;
  const std::vector<results::Figures> figures;  // of each trial
  const Trials measured;
  const std::vector<SecondJobCost> second_jobs;

  // Derived on first use, because they take as long as the rest and not every format needs them.
  const std::vector<Ablation>& ablations() const;

 private:
  mutable std::optional<std::vector<Ablation>> ablations_;
};

}  // namespace chexbench::analysis
