#include "bench/trial_files.hpp"

#include "bench/data_facts.hpp"
#include "core/log.hpp"
#include "formats/cached_file.hpp"

namespace chexbench::bench {

std::string prepare_files(spec::PageCache goal, const dataset::Dataset& dataset, int local_rank,
                          comm::Communicator& members) {
  if (goal == spec::PageCache::cold && dataset.cached) {
    dataset.cached->release_pages();
    members.barrier();
  }
  if (goal == spec::PageCache::as_is || local_rank != 0) return spec::to_string(goal);
  const measure::PageCacheState state = measure::prepare_page_cache(goal, paths_of(dataset));
  if (!state.reason.empty()) log::warning("page cache: {}: {}", state.word, state.reason);
  return state.word;
}

measure::CachedShare look_at_files(const dataset::Dataset& dataset, int local_rank) {
  constexpr std::size_t kMostFiles = 2000;  // each takes about 30 us
  if (local_rank != 0 || !dataset.store->is_local()) return {};
  return measure::look_at_page_cache(measure::evenly(paths_of(dataset), kMostFiles));
}

}  // namespace chexbench::bench
