#include "bench/merge_ranks.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "bench/rank_records.hpp"
#include "measure/page_cache.hpp"
#include "results/rank_trace.hpp"

namespace chexbench::bench {
namespace {

// If the images held in a pipeline fell by more than this share of the images trained, it drained its buffers.
constexpr double kBufferFedShare = 0.05;

using results::Merge;

void merge(Merge /*rule*/, std::string& /*of_first*/, const std::string& /*more*/) {}
void merge(Merge /*rule*/, bool& /*of_first*/, bool /*more*/) {}
template <class Number>
requires std::is_arithmetic_v<Number>
void merge(Merge rule, Number& all, Number more) {
  if (rule == Merge::sum) all += more;
  if (rule == Merge::largest) all = std::max(all, more);
}
void merge(Merge rule, std::optional<double>& all, const std::optional<double>& more) {
  if (rule == Merge::sum && more) all = all.value_or(0) + *more;
}
template <class Record>
void merge(Merge rule, std::vector<Record>& all, const std::vector<Record>& more) {
  if (rule == Merge::sum) all.insert(all.end(), more.begin(), more.end());
}
void merge(Merge /*rule*/, std::vector<measure::OpCounters>& all, const std::vector<measure::OpCounters>& more) {
  for (std::size_t op = 0; op < all.size() && op < more.size(); ++op) measure::add(all[op], more[op]);
}

// Merges another rank's measurements into `all`. Visits of both yield the same fields in the same order.
void merge(results::RepeatResult& all, const results::RepeatResult& more) {
  std::vector<const void*> values;
  const auto note = [&values](const char*, const auto& value) { values.push_back(&value); };
  visit_fields(note, more);
  visit_lists(note, more);
  auto next = values.begin();
  const auto merge_next = [&next]<class Value>(const results::Field& field, Value& value) {
    merge(field.merge, value, *static_cast<const Value*>(*next++));
  };
  visit_fields(merge_next, all);
  visit_lists(merge_next, all);
  if (measure::is_doubtful(more.page_cache))
    all.page_cache = more.page_cache;  // one doubtful host makes the repeat doubtful
}

// Impossible measurements become unknown, in memory as in files.
void drop_unmeasured(results::RepeatResult& repeat) {
  const auto drop = []<class Value>(const char*, Value& value) {
    if constexpr (std::is_same_v<Value, double>)
      if (!results::is_measured(value)) value = results::kNotKnown;
  };
  visit_fields(drop, repeat);
  for (results::StepRecord& step : repeat.steps) visit_fields(drop, step);
  for (results::EpochRecord& epoch : repeat.epochs) visit_fields(drop, epoch);
}

}  // namespace

results::RepeatResult merge_ranks(const std::vector<results::RepeatResult>& rank_results, int images_per_step) {
  results::RepeatResult merged = rank_results.front();
  for (std::size_t rank = 1; rank < rank_results.size(); ++rank) merge(merged, rank_results[rank]);
  const double steps = static_cast<double>(merged.steps.size());  // each is a step of one rank
  merged.images_per_s = merged.wall_s > 0 ? steps * images_per_step / merged.wall_s : 0;
  merged.buffer_fed =
      static_cast<double>(-merged.images_held_change) > kBufferFedShare * static_cast<double>(merged.images_trained);
  drop_unmeasured(merged);
  return merged;
}

namespace {

constexpr std::size_t kMostSpansOfRank = 50'000;  // about 5 MB of text
constexpr std::size_t kMostSpansOfTrial = 1'000'000;

}  // namespace

std::size_t most_spans(int ranks) {
  return std::min(kMostSpansOfRank, kMostSpansOfTrial / static_cast<std::size_t>(ranks));
}

double clock_shift_s(const std::vector<HostClock>& ranks, std::size_t rank) {
  const auto first_of_host = std::ranges::find(ranks, ranks.at(rank).host, &HostClock::host);
  return ranks.front().ready_s - first_of_host->ready_s;
}

std::optional<results::TrialTrace> gather_trace(comm::Communicator& members, const RankRecording& mine) {
  const std::vector<HostClock> clocks = all_gather_records(members, HostClock{mine.host, mine.ready_s});
  const int rank = members.rank();
  results::RankTrace own{.rank = rank,
                         .clock_shift_s = clock_shift_s(clocks, static_cast<std::size_t>(rank)),
                         .dropped_spans = mine.trace.dropped_spans};
  own.events = results::trace_events(mine.trace, rank, own.clock_shift_s);
  results::TrialTrace all{.repeat = mine.repeat, .ranks = gather_records(members, own)};
  return rank == 0 ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace chexbench::bench
