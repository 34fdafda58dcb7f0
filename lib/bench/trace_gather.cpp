#include "bench/trace_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "bench/core_layout.hpp"
#include "comm/texts.hpp"
#include "results/rank_trace.hpp"

namespace chexbench::bench {
namespace {

constexpr std::size_t kMostSpansOfRank = 50'000;  // about 5 MB of text
constexpr std::size_t kMostSpansOfTrial = 1'000'000;

// Reads the seconds and the host's name, which contains no blank.
HostClock clock_from_text(const std::string& text) {
  std::istringstream words(text);
  HostClock clock;
  words >> clock.ready_s >> clock.host;
  return clock;
}

}  // namespace

std::size_t most_spans(int ranks) {
  return std::min(kMostSpansOfRank, kMostSpansOfTrial / static_cast<std::size_t>(ranks));
}

double clock_shift_s(const std::vector<HostClock>& ranks, std::size_t rank) {
  const auto first_of_host = std::ranges::find(ranks, ranks.at(rank).host, &HostClock::host);
  return ranks.front().ready_s - first_of_host->ready_s;
}

std::optional<results::TrialTrace> gather_trace(comm::Communicator& members, const RankRecording& mine) {
  std::vector<HostClock> clocks;
  for (const std::string& text : comm::all_gather(members, fmt::format("{} {}", mine.ready_s, mine.host)))
    clocks.push_back(clock_from_text(text));
  const int rank = members.rank();
  results::RankTrace own{.rank = rank,
                         .clock_shift_s = clock_shift_s(clocks, static_cast<std::size_t>(rank)),
                         .dropped_spans = mine.trace.dropped_spans};
  own.events = results::trace_events(mine.trace, rank, own.clock_shift_s);
  results::TrialTrace all{.repeat = mine.repeat, .ranks = {}};
  for (const std::string& text : members.gather(results::to_text(own), 0))
    all.ranks.push_back(results::rank_trace_from_text(text));
  return rank == 0 ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace chexbench::bench
