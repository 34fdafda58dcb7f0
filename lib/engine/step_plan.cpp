#include "engine/step_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/errors.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"
#include "spec/keys.hpp"

namespace chexbench::engine {
namespace {

std::vector<PlannedBucket> plan_ready_buckets(const EngineConfig& config, double backward_s) {
  const model::Graph graph = model::make_network(config.model.name, config.model.image_size, config.outputs);
  const std::vector<model::Parameter> parameters = model::backward_parameters(graph);
  const std::vector<double> ready_share = model::backward_ready_share(graph);
  std::vector<std::int64_t> counts;
  for (const model::Parameter& parameter : parameters) counts.push_back(parameter.info.count());
  std::vector<PlannedBucket> buckets;
  const model::BucketLimits limits{.first_bytes = config.comm.first_bucket_bytes, .bytes = config.comm.bucket_bytes};
  for (const model::BucketRange& range : model::plan_buckets(counts, limits)) {
    const model::Parameter& last = parameters[range.first_tensor + range.tensors - 1];
    buckets.push_back({.ready_s = backward_s * ready_share[static_cast<std::size_t>(last.layer)],
                       .elements = static_cast<std::size_t>(range.elements)});
  }
  return buckets;
}

void check_communication(const spec::ProfileEntry& entry, const EngineConfig& config) {
  if (config.world == 1 || !entry.includes_communication || config.comm.model == spec::CommModel::none) return;
  throw SpecError(fmt::format(
      "comm.model: the profile's time for {} contains communication already, so '{}' would count it twice; use 'none'",
      entry.model, to_string(config.comm.model)));
}

}  // namespace

StepPlan plan_step(const spec::ProfileEntry& entry, const EngineConfig& config) {
  check_communication(entry, config);
  const int batch_size = config.training.batch_size;
  const double compute_s = batch_size / entry.images_per_s;  // Scales if the entry's batch size differs.
  StepPlan plan{.forward_s = compute_s * (1 - entry.backward_share),
                .backward_s = compute_s * entry.backward_share,
                .update_s = entry.includes_update ? 0 : entry.update_s,
                .buckets = {},
                .notes = {},
                .batches = config.training.accumulate_steps};
  if (batch_size != entry.batch_size) {
    plan.notes.push_back(fmt::format("emulated time {} at batch {}, scaled linearly to batch {}",
                                     entry.computed ? "computed" : "measured", entry.batch_size, batch_size));
  }
  if (entry.between) {
    plan.notes.push_back(fmt::format("emulated time interpolated linearly between batches {} and {}",
                                     entry.between->first, entry.between->second));
  }
  if (entry.computed) plan.notes.emplace_back("emulated time was computed, not measured: see its source");
  if (entry.record_bytes) {
    plan.notes.push_back(fmt::format(
        "the step time is that of a storage benchmark's workload, with records of {} bytes", *entry.record_bytes));
  }
  if (entry.includes_update) {
    plan.notes.push_back(fmt::format("emulated compute time contains the optimizer's update{}",
                                     plan.batches > 1 ? ", for each of a step's batches" : ""));
  }
  if (config.world > 1) {
    switch (config.comm.model) {
      case spec::CommModel::real:
      case spec::CommModel::shaped:
        plan.notes.push_back("compute is emulated, gradients are averaged for real between the hosts' processes");
        break;
      case spec::CommModel::alpha_beta:
        plan.notes.push_back(fmt::format("communication is modelled: alpha {} s, {:.3g} GB/s, {} s a bucket",
                                         config.comm.alpha_s, config.comm.beta_bytes_per_s / 1e9,
                                         config.comm.launch_s));
        break;
      case spec::CommModel::none:
        plan.notes.push_back("no communication is emulated between ranks");
        return plan;
    }
    plan.buckets = plan_ready_buckets(config, plan.backward_s);
  }
  return plan;
}

StepPlan slowed(StepPlan plan, double factor) {
  plan.forward_s *= factor;
  plan.backward_s *= factor;
  plan.update_s *= factor;
  for (PlannedBucket& bucket : plan.buckets) bucket.ready_s *= factor;
  return plan;
}

double ring_all_reduce_s(std::size_t bytes, int ranks, const spec::CommSpec& comm) {
  const double others = ranks - 1;
  return comm.launch_s + 2 * others * comm.alpha_s +
         2 * (others / ranks) * static_cast<double>(bytes) / comm.beta_bytes_per_s;
}

double average_s(std::size_t bytes, int ranks, const spec::CommSpec& comm) {
  const double message_s = static_cast<double>(bytes) / comm.beta_bytes_per_s;
  const auto tree_s = [&](int members) {
    return 2 * std::bit_width(static_cast<unsigned>(members - 1)) * (comm.alpha_s + message_s);
  };
  switch (comm.update) {
    case spec::UpdateScheme::all_reduce:
    case spec::UpdateScheme::ring:
      break;
    case spec::UpdateScheme::tree:
      return comm.launch_s + tree_s(ranks);
    case spec::UpdateScheme::hierarchical: {
      const int group = std::min(comm.ranks_per_group, ranks);
      return tree_s(group) + ring_all_reduce_s(bytes, (ranks + group - 1) / group, comm);
    }
    case spec::UpdateScheme::parameter_server: {
      const double into_server = (ranks - 1.0) / comm.servers;
      const double out_of_worker = comm.servers < ranks ? 1 : (ranks - 1.0) / ranks;
      return comm.launch_s + 2 * (comm.alpha_s + std::max(into_server, out_of_worker) * message_s);
    }
  }
  return ring_all_reduce_s(bytes, ranks, comm);
}

ModelledCommunication model_communication(const std::vector<PlannedBucket>& buckets, int ranks,
                                          const spec::CommSpec& comm) {
  ModelledCommunication result;
  for (const PlannedBucket& bucket : buckets) {
    const std::size_t bytes = bucket.elements * bytes_of(comm.gradient_dtype);
    const double bucket_s = average_s(bytes, ranks, comm);
    const double begin_s = std::max(result.end_s, bucket.ready_s);
    result.end_s = begin_s + bucket_s;
    result.busy_s += bucket_s;
    result.buckets.push_back({.begin_s = begin_s, .end_s = result.end_s, .bytes = bytes});
  }
  return result;
}

}  // namespace chexbench::engine
