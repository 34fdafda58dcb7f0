#include "bench/merge_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/core_layout.hpp"
#include "comm/texts.hpp"
#include "measure/page_cache.hpp"
#include "results/rank_trace.hpp"

namespace chexbench::bench {
namespace {

// If the images that a pipeline held fell by more than this share of the images trained, it drained its buffers.
constexpr double kBufferFedShare = 0.05;

template <class Record>
void append(std::vector<Record>& all, const std::vector<Record>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add(results::Disturbance& sum, const results::Disturbance& more) {
  sum.core_s += more.core_s;
  sum.others_s += more.others_s;
  sum.steal_s += more.steal_s;
  sum.own_cpu_s += more.own_cpu_s;
  sum.own_wait_s += more.own_wait_s;
  sum.span_s += more.span_s;
  sum.throttled_s += more.throttled_s;
  sum.lost_core_s += more.lost_core_s;
  sum.memory_stall_s += more.memory_stall_s;
}

void add(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void add(results::SecondJobResult& sum, const results::SecondJobResult& more) {
  add(sum.images_per_s, more.images_per_s);
  add(sum.alone_images_per_s, more.alone_images_per_s);
  add(sum.bytes_per_s, more.bytes_per_s);
  add(sum.alone_bytes_per_s, more.alone_bytes_per_s);
  sum.cpu_s += more.cpu_s;
  sum.span_s = std::max(sum.span_s, more.span_s);
}

}  // namespace

results::RepeatResult merge_ranks(const std::vector<results::RepeatResult>& rank_results, int images_per_step) {
  results::RepeatResult merged = rank_results.front();
  for (std::size_t rank = 1; rank < rank_results.size(); ++rank) {
    const results::RepeatResult& other = rank_results[rank];
    merged.wall_s = std::max(merged.wall_s, other.wall_s);
    merged.images_trained += other.images_trained;
    merged.images_decoded += other.images_decoded;
    merged.images_held_change += other.images_held_change;
    merged.bad_records += other.bad_records;
    merged.process_cpu_s += other.process_cpu_s;
    merged.cpu_wait_s += other.cpu_wait_s;
    add(merged.disturbance, other.disturbance);
    add(merged.second_job, other.second_job);
    merged.bytes_read += other.bytes_read;
    merged.storage_read_bytes += other.storage_read_bytes;
    if (measure::is_doubtful(other.page_cache))
      merged.page_cache = other.page_cache;  // one doubtful host makes the repeat doubtful
    merged.looked_at_bytes += other.looked_at_bytes;
    merged.cached_bytes_before += other.cached_bytes_before;
    merged.cached_bytes_after += other.cached_bytes_after;
    merged.peak_rss_bytes = std::max(merged.peak_rss_bytes, other.peak_rss_bytes);
    merged.anonymous_rss_bytes = std::max(merged.anonymous_rss_bytes, other.anonymous_rss_bytes);
    append(merged.steps, other.steps);
    append(merged.waits, other.waits);
    append(merged.op_samples, other.op_samples);
    append(merged.gpus, other.gpus);
    for (std::size_t op = 0; op < merged.ops.size() && op < other.ops.size(); ++op)
      measure::add(merged.ops[op], other.ops[op]);
  }
  const double steps = static_cast<double>(merged.steps.size());  // each is a step of one rank
  merged.images_per_s = merged.wall_s > 0 ? steps * images_per_step / merged.wall_s : 0;
  merged.buffer_fed =
      static_cast<double>(-merged.images_held_change) > kBufferFedShare * static_cast<double>(merged.images_trained);
  return merged;
}

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
