// The traces of all ranks, brought together on rank 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/trace.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// What this rank recorded of one repeat.
struct RankRecording {
  int repeat = 0;
  std::string host;
  double ready_s = 0;  // now_s() as the ranks left the barrier before the repeat
  measure::Trace trace;
};

// Spans that a rank keeps: the file of a trial stays below some 100 MB however many ranks there are.
std::size_t most_spans(int ranks);

struct HostClock {
  std::string host;
  double ready_s = 0;
};
// What to add to the clock of rank `rank` to get that of rank 0. Hosts are held together by the barrier before the
// repeat, as precisely as that is (milliseconds); ranks of one host have one clock.
double clock_shift_s(const std::vector<HostClock>& ranks, std::size_t rank);

// Collective; empty on all ranks but 0.
std::optional<results::TrialTrace> gather_trace(comm::Communicator& members, const RankRecording& mine);

}  // namespace chexbench::bench
