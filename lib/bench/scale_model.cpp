#include "bench/scale_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "measure/cgroup_limits.hpp"

namespace chexbench::bench {

ScaleModel scale_model_of(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share, int ranks,
                          double cpu_limit) {
  const spec::EmulationSpec& emulation = spec.emulation;
  const int sharers = std::min(ranks, host.sharers);
  const double for_each = std::min(static_cast<double>(host.cores.size()), cpu_limit) / sharers;
  const double cores = std::min(static_cast<double>(share.cores.size()), for_each);
  const ScaleModel scale{.factor = emulation.cores_per_accelerator / (cores * emulation.core_speed), .cores = cores};
  if (scale.factor >= 1) return scale;
  throw SpecError(fmt::format(
      "emulation.cores_per_accelerator is {}, but each of {} ranks has {:.3g} cores here, {} times as fast: a scale "
      "model can only be slower than full scale; set cores_per_rank to {} at most, or leave "
      "emulation.cores_per_accelerator at 0",
      emulation.cores_per_accelerator, ranks, cores, emulation.core_speed,
      std::max(1, static_cast<int>(emulation.cores_per_accelerator / emulation.core_speed))));
}

std::optional<ScaleModel> agree_on_scale(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share,
                                         comm::Communicator& ranks) {
  if (spec.emulation.cores_per_accelerator == 0) return {};
  const double cpu_limit = measure::probe_cgroup_limits().cpus.value_or(std::numeric_limits<double>::infinity());
  const ScaleModel scale = scale_model_of(spec, host, share, ranks.world(), cpu_limit);
  const std::string own = fmt::format("{:.3g}", scale.cores);
  for (const std::string& other : comm::all_gather(ranks, own)) {
    if (other == own) continue;
    throw SpecError(fmt::format(
        "emulation.cores_per_accelerator: one rank has {} cores and another one {}, but a scale model has one factor: "
        "start as many ranks on each host and bind them alike, or set cores_per_rank",
        own, other));
  }
  return scale;
}

std::string scale_note(const ScaleModel& scale, const spec::EmulationSpec& emulation) {
  return fmt::format(
      "scale model, 1 : {:.3g}: {} cores decode for an accelerator, of which a rank had {:.3g} here, so everything was "
      "measured {:.4g} times slower; rates, times and cores are those of the full scale, if a core there is {}",
      scale.factor, emulation.cores_per_accelerator, scale.cores, scale.factor,
      emulation.core_speed == 1 ? std::string("as fast as one here")
                                : fmt::format("{:.3g} times as fast as one here", 1 / emulation.core_speed));
}

void to_full_scale(results::RepeatResult& repeat, const ScaleModel& scale, const spec::EmulationSpec& emulation) {
  repeat.images_per_s *= scale.factor;
  repeat.wall_s /= scale.factor;
  repeat.process_cpu_s *= emulation.core_speed;
  for (results::StepRecord& step : repeat.steps) {
    step.next_s /= scale.factor;
    step.timings.end_s /= scale.factor;
    for (const auto duration : measure::kStepDurations) step.timings.*duration /= scale.factor;
  }
  for (measure::WaitBooking& wait : repeat.waits) wait.wait_s /= scale.factor;
}

}  // namespace chexbench::bench
