#include "analysis/evaluation.hpp"

#include "analysis/derive.hpp"

namespace chexbench::analysis {

Evaluation::Evaluation(const results::Report& of)
    : report(of),
      figures(derive_all_figures(of.trials)),
      measured(measured_trials(of.trials, figures)),
      second_jobs(second_job_costs(measured, measured)) {}

const std::vector<Ablation>& Evaluation::ablations() const {
  if (!ablations_) ablations_ = analysis::ablations(report);
  return *ablations_;
}

}  // namespace chexbench::analysis
