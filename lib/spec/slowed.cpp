#include "spec/slowed.hpp"

#include <cstdint>

namespace chexbench::spec {
namespace {

StoreShape slowed(StoreShape shape, double factor) {
  if (shape.bandwidth_mb_per_s) *shape.bandwidth_mb_per_s /= factor;
  if (shape.iops) *shape.iops /= factor;
  if (shape.latency_ms) *shape.latency_ms *= factor;
  if (shape.jitter_ms) *shape.jitter_ms *= factor;
  return shape;
}

}  // namespace

CommSpec slowed(CommSpec comm, double factor) {
  comm.alpha_s *= factor;
  comm.launch_s *= factor;
  comm.beta_bytes_per_s /= factor;
  return comm;
}

TrialSpec slowed(TrialSpec experiment, double factor) {
  experiment.comm = slowed(experiment.comm, factor);
  experiment.data.store.shape = slowed(experiment.data.store.shape, factor);
  const std::int64_t cores = experiment.emulation.cores_per_accelerator;
  for (OpSpec& op : experiment.pipeline.ops) {
    const auto workers = op.parameters.find("num_workers");
    if (cores > 0 && workers != op.parameters.end() && op.holds_text("num_workers"))
      workers->second = cores;  // not one per core of this machine
    for (const char* parameter : {"delay_s", "start_s"}) {
      const auto found = op.parameters.find(parameter);
      if (found != op.parameters.end()) found->second = op.number(parameter) * factor;
    }
  }
  return experiment;
}

}  // namespace chexbench::spec
