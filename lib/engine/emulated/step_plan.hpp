// One emulated step as a plan on the device's time line: pure arithmetic, no clock.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "spec/profile.hpp"

namespace chexbench::engine {

// A bucket of gradients and when it is complete.
struct PlannedBucket {
  double ready_s = 0;  // since the begin of backward
  std::size_t elements = 0;
};

struct StepPlan {
  double forward_s = 0;
  double backward_s = 0;
  double update_s = 0;                 // where the profile tells it apart
  std::vector<PlannedBucket> buckets;  // in backward order; empty: no communication
  std::vector<std::string> notes;
  int batches = 1;  // of a step, each forward and backward; communication and update follow the last one

  double compute_s() const { return batches * (forward_s + backward_s); }
};

// Splits the entry's time for `config.training.batch_size` images into phases, and cuts the model's gradients into
// buckets that become complete as backward would complete them, if its time went by FLOPs.
// @throws SpecError where the entry's time contains communication that the spec asks for once more
StepPlan plan_step(const spec::ProfileEntry& entry, const EngineConfig& config);

// A ring all-reduce of one bucket: T = launch + 2 (n-1) alpha + 2 ((n-1)/n) S / B, with S bytes over n ranks, a latency
// alpha a message and a bandwidth B a link (Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms", 2009; the
// launch cost is added here).
double ring_all_reduce_s(std::size_t bytes, int ranks, const spec::CommSpec& comm);

// One bucket averaged as `comm.update` says over such links: the ring for all_reduce, as libraries take it for large
// buckets; a tree, 2 ceil(log2 n) (alpha + S / B); servers, 2 (alpha + max((n-1) / servers, 1) S / B), as each takes a
// part from every other rank by its one link; groups of ranks_per_group, the tree of a group and the ring of groups.
double average_s(std::size_t bytes, int ranks, const spec::CommSpec& comm);

// When the all-reduce of a bucket runs, since the begin of backward.
struct ModelledBucket {
  double begin_s = 0;
  double end_s = 0;
  std::size_t bytes = 0;
};

// Buckets on one serial communication stream, each begun when it is complete and the one before is done.
struct ModelledCommunication {
  std::vector<ModelledBucket> buckets;
  double end_s = 0;   // of the last bucket, since the begin of backward
  double busy_s = 0;  // the stream's time, gaps left out
};
ModelledCommunication model_communication(const std::vector<PlannedBucket>& buckets, int ranks,
                                          const spec::CommSpec& comm);

}  // namespace chexbench::engine
