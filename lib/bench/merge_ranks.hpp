// Combines the results of all ranks into the result of a repeat.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/trace.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Returns the result of a repeat over all ranks, from the result of each rank: the wall time of the slowest rank, the
// sums of counts, the largest memory, the steps and waits of every rank, and the samples of every GPU. Fields that are
// neither summed nor compared are those of the first element, rank 0. Derives images_per_s and buffer_fed.
// `rank_results` must not be empty; `images_per_step` counts the images of one rank.
results::RepeatResult merge_ranks(const std::vector<results::RepeatResult>& rank_results, int images_per_step);

// This rank's recording of one repeat.
struct RankRecording {
  int repeat = 0;
  std::string host;
  double ready_s = 0;  // now_s() as the ranks left the barrier before the repeat
  measure::Trace trace;
};

// Returns how many spans each of `ranks` ranks keeps, so that the trace file of a trial stays below about 100 MB for
// any number of ranks.
std::size_t most_spans(int ranks);

// The clock of one rank as the barrier before the repeat ended.
struct HostClock {
  std::string host;
  double ready_s = 0;
};
template <class Visitor, results::MaybeConst<HostClock> Record>
void visit_fields(Visitor&& visit, Record& clock) {
  visit("host", clock.host);
  visit("ready_s", clock.ready_s);
}
// Returns the seconds to add to the clock of rank `rank` to get the clock of rank 0. Ranks of one host share a clock.
// The clocks of different hosts are aligned by the barrier before the repeat, which is precise to milliseconds. A pure
// function.
double clock_shift_s(const std::vector<HostClock>& ranks, std::size_t rank);

// Returns the traces of all ranks on rank 0, with their times on its clock, and std::nullopt on the others. Collective
// over `members`.
// @throws DeviceError if a rank was lost
std::optional<results::TrialTrace> gather_trace(comm::Communicator& members, const RankRecording& mine);

}  // namespace chexbench::bench
