#include "bench/describe_trial.hpp"

namespace chexbench::bench {

void describe_engine(results::TrialResult& trial, const engine::EngineTraits& traits, const CoreShare& share) {
  trial.engine_device = traits.device;
  trial.engine_source = traits.source;
  trial.emulated = traits.emulated;
  trial.step_time_computed = traits.step_time_computed;
  trial.notes = traits.notes;
  trial.cores_per_rank = static_cast<int>(share.cores.size());
  trial.oversubscribed = share.oversubscribed;
}

void describe_scale(results::TrialResult& trial, const ScaleModel& scale) {
  trial.scale_factor = scale.factor;
  trial.cores_per_rank = trial.spec.emulation.cores_per_accelerator;
  trial.oversubscribed = false;  // the factor accounts for it
  trial.notes.push_back(scale_note(scale, trial.spec.emulation));
  if (trial.spec.measure.trace) trial.notes.emplace_back("trace.json has the times as they were measured");
}

void describe_gpus(results::TrialResult& trial, const GpuShare& share, const Reducer& reducer) {
  if (share.shared) trial.notes.emplace_back("ranks share a GPU: no figure of that GPU");
  if (!reducer.capturable()) trial.notes.emplace_back("gradients averaged in host memory, over MPI");
}

}  // namespace chexbench::bench
