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

// Cuts the model's gradients into the plan's buckets.
void plan_buckets(const EngineConfig& config, StepPlan& plan) {
  const model::Graph graph = model::make_network(config.model.name, config.model.image_size, config.outputs);
  const std::vector<model::Parameter> parameters = model::backward_parameters(graph);
  const std::vector<double> ready_share = model::backward_ready_share(graph);
  std::vector<std::int64_t> counts;
  for (const model::Parameter& parameter : parameters) counts.push_back(parameter.info.count());
  plan.tensors = static_cast<int>(parameters.size());
  const model::BucketLimits limits{.first_bytes = config.comm.first_bucket_bytes, .bytes = config.comm.bucket_bytes};
  for (const model::BucketRange& range : model::plan_buckets(counts, limits)) {
    const model::Parameter& last = parameters[range.first_tensor + range.tensors - 1];
    plan.buckets.push_back({.ready_s = plan.backward_s * ready_share[static_cast<std::size_t>(last.layer)],
                            .elements = static_cast<std::size_t>(range.elements)});
  }
}

std::string describe_model(const spec::CommSpec& comm) {
  return fmt::format("communication is modelled: {}, alpha {} s, {:.3g} GB/s, {} s a bucket", comm.profile,
                     comm.alpha_s, comm.beta_bytes_per_s / 1e9, comm.launch_s);
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
    plan.notes.push_back(fmt::format("emulated compute time includes the optimizer's update{}",
                                     plan.batches > 1 ? ", for each of a step's batches" : ""));
  }
  if (config.world > 1) {
    switch (config.comm.model) {
      case spec::CommModel::real:
      case spec::CommModel::shaped:
        plan.notes.push_back("compute is emulated, gradients are averaged for real between the hosts' processes");
        break;
      case spec::CommModel::alpha_beta:
        plan.software = spec::load_comm_profile(config.comm.profile);
        spec::check_hosts(plan.software, config.comm);
        plan.notes.push_back(describe_model(on_links(config.comm, plan.software, config.world)));
        break;
      case spec::CommModel::none:
        plan.notes.push_back("no communication is emulated between ranks");
        return plan;
    }
    plan_buckets(config, plan);
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

spec::CommSpec on_links(spec::CommSpec comm, const spec::CommProfile& software, int ranks) {
  if (!comm.link.empty()) {
    const spec::NamedLink& link = spec::find_link(comm.link);
    comm.alpha_s = link.alpha_s;
    comm.beta_bytes_per_s = link.beta_bytes_per_s;
  }
  const bool is_one_host = ranks <= comm.ranks_per_host;
  if (!is_one_host) comm.beta_bytes_per_s *= software.line_rate_share;
  if (!comm.host_link.empty() && comm.ranks_per_host > 1) {
    const spec::NamedLink& inside = spec::find_link(comm.host_link);
    comm.alpha_s = is_one_host ? inside.alpha_s : std::max(comm.alpha_s, inside.alpha_s);
    comm.beta_bytes_per_s =
        is_one_host ? inside.beta_bytes_per_s : std::min(comm.beta_bytes_per_s, inside.beta_bytes_per_s);
  }
  if (software.host_bytes_per_s) comm.beta_bytes_per_s = std::min(comm.beta_bytes_per_s, *software.host_bytes_per_s);
  return comm;
}

ModelledCommunication model_communication(const StepPlan& plan, int ranks, const spec::CommSpec& comm) {
  ModelledCommunication result;
  const bool has_servers = plan.software.servers_on_hosts;
  const int ring_ranks = has_servers ? std::min(ranks, comm.ranks_per_host) : ranks;
  const spec::CommSpec ring = on_links(comm, plan.software, ring_ranks);
  std::size_t all_bytes = 0;
  for (const PlannedBucket& bucket : plan.buckets) {
    const std::size_t bytes = bucket.elements * bytes_of(comm.gradient_dtype);
    const double bucket_s = average_s(bytes, ring_ranks, ring);
    // A bandwidth in host memory was measured over all of backward, so it includes the wait for the first buckets.
    const double ready_s = plan.software.host_bytes_per_s ? 0 : bucket.ready_s;
    const double begin_s = std::max(result.end_s, ready_s);
    result.end_s = begin_s + bucket_s;
    result.busy_s += bucket_s;
    result.buckets.push_back({.begin_s = begin_s, .end_s = result.end_s, .bytes = bytes});
    all_bytes += bytes;
  }
  if (ranks > 1) result.software_s = plan.software.tensor_s * plan.tensors;
  if (has_servers) {
    const int hosts = 1 + (ranks - 1) / comm.ranks_per_host;  // the last one may have fewer ranks
    const spec::CommSpec network = on_links(comm, plan.software, ranks);
    result.software_s += 2.0 * (hosts - 1) / hosts * static_cast<double>(all_bytes) / network.beta_bytes_per_s;
  }
  result.busy_s += result.software_s;
  return result;
}

ModelledCommunication slowed(ModelledCommunication communication, double factor) {
  for (ModelledBucket& bucket : communication.buckets) {
    bucket.begin_s *= factor;
    bucket.end_s *= factor;
  }
  communication.end_s *= factor;
  communication.software_s *= factor;
  communication.busy_s *= factor;
  return communication;
}

}  // namespace chexbench::engine
