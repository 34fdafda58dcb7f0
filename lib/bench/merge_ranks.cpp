#include "bench/merge_ranks.hpp"

#include <algorithm>
#include <optional>

#include "measure/page_cache.hpp"

namespace chexbench::bench {
namespace {

// If the images that a pipeline held fell by more than this share of the images trained, it lived off its buffers.
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

}  // namespace chexbench::bench
