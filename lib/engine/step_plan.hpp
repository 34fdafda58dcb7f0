// The timeline of one step of an emulated engine, and of a prediction: pure arithmetic without a clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "spec/comm_profile.hpp"
#include "spec/profile.hpp"

namespace chexbench::engine {

// A bucket of gradients.
struct PlannedBucket {
  double ready_s = 0;  // When it is complete, since the start of backward.
  std::size_t elements = 0;
};

// Phases of one step; forward_s and backward_s are those of one batch.
struct StepPlan {
  double forward_s = 0;
  double backward_s = 0;
  double update_s = 0;                 // 0 if forward_s and backward_s contain it.
  std::vector<PlannedBucket> buckets;  // In the order of backward; empty if there is no communication.
  std::vector<std::string> notes;
  int batches = 1;  // Forward and backward passes per step; communication and update follow the last one.
  int tensors = 0;  // Of gradients; 0 if there is no communication.
  spec::CommProfile software = {};  // Of the modelled communication.

  double compute_s() const { return batches * (forward_s + backward_s); }
};

// Splits the entry's time for `config.training.batch_size` images into phases. Cuts the model's gradients into buckets
// that become complete as if backward's time were proportional to FLOPs.
// @throws SpecError if the entry's time already contains the communication that comm.model asks for, or the network is
// unknown
StepPlan plan_step(const spec::ProfileEntry& entry, const EngineConfig& config);

// Returns the plan of a device on which everything takes `factor` times as long.
StepPlan slowed(StepPlan plan, double factor);

// Time of a ring all-reduce of one bucket: T = launch + 2 (n-1) alpha + 2 ((n-1)/n) S / B, with S bytes over n ranks, a
// latency alpha per message and a bandwidth B per link (Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms",
// 2009). The launch cost is an addition to their formula.
double ring_all_reduce_s(std::size_t bytes, int ranks, const spec::CommSpec& comm);

// Time to average one bucket by the scheme `comm.update` over such links, launch cost included:
// - all_reduce and ring: ring_all_reduce_s(), which libraries use for large buckets;
// - tree: 2 ceil(log2 n) (alpha + S / B);
// - parameter_server: 2 (alpha + max((n-1) / servers, w) S / B), because each server receives its part from all other
//   ranks over one link; w, the part that a worker sends, is 1 with fewer servers than ranks, else (n-1)/n;
// - hierarchical: the tree within a group of ranks_per_group, then the ring over the groups.
double average_s(std::size_t bytes, int ranks, const spec::CommSpec& comm);

// Returns `comm` with the latency and bandwidth of the slowest link of a ring over `ranks` ranks, as `software` uses
// it: within a host, comm.host_link; over several, comm.link, whose NIC the ring crosses once per host and direction.
// Averages in host memory are bounded by that memory's bandwidth.
spec::CommSpec on_links(spec::CommSpec comm, const spec::CommProfile& software, int ranks);

// When a bucket is averaged, in seconds since the start of backward.
struct ModelledBucket {
  double begin_s = 0;
  double end_s = 0;
  std::size_t bytes = 0;
};

// Buckets on one serial communication stream: each starts when it is complete and the bucket before it is done.
struct ModelledCommunication {
  std::vector<ModelledBucket> buckets;
  double end_s = 0;       // End of the last bucket, since the start of backward.
  double software_s = 0;  // After that: what backward never hides.
  double busy_s = 0;      // Busy time of the stream, without gaps.

  // Communication that is not overlapped with a backward of `backward_s` seconds.
  double exposed_s(double backward_s) const { return std::max(0.0, end_s - backward_s) + software_s; }
};
// The average of the plan's gradients over `ranks` ranks, at least 1. With plan.software.servers_on_hosts, buckets are
// summed within a host, and then 2 S (H-1)/H bytes cross its NIC, for S bytes of gradients and H hosts.
ModelledCommunication model_communication(const StepPlan& plan, int ranks, const spec::CommSpec& comm);

// Returns the same communication where everything takes `factor` times as long.
ModelledCommunication slowed(ModelledCommunication communication, double factor);

}  // namespace chexbench::engine
