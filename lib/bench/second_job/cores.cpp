#include "bench/second_job/cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/errors.hpp"
#include "measure/system_files.hpp"
#include "spec/key_lists.hpp"

namespace chexbench::bench {
namespace {

std::vector<int> checked(const std::vector<int>& asked, const std::string& text, const std::vector<int>& existing) {
  for (const int cpu : asked) {
    if (std::ranges::find(existing, cpu) != existing.end()) continue;
    throw SpecError(fmt::format("second_job.cores is {}, but this process may not use CPU {}: it has CPUs {}", text,
                                cpu, measure::cpu_list_text(existing)));
  }
  return asked;
}

}  // namespace

std::vector<int> second_job_cores(const std::vector<RankCores>& rank_cores, std::size_t rank,
                                  const spec::TrialSpec& spec, int ranks, const std::vector<int>& existing) {
  const std::string& asked = spec.second_job.cores;
  const std::vector<int> listed = spec::second_job_cpus(asked);
  if (!listed.empty()) return checked(listed, asked, existing);
  std::set<int> all, used;
  for (std::size_t other = 0; other < rank_cores.size(); ++other) {
    if (rank_cores[other].host != rank_cores[rank].host) continue;
    all.insert(rank_cores[other].cores.begin(), rank_cores[other].cores.end());
    if (other >= static_cast<std::size_t>(ranks)) continue;
    const CoreShare share = share_cores(host_cores_of(rank_cores, other), spec, ranks);
    used.insert(share.cores.begin(), share.cores.end());
  }
  if (asked == "shared") return {used.begin(), used.end()};
  std::vector<int> apart;
  std::ranges::set_difference(all, used, std::back_inserter(apart));
  if (!apart.empty()) return apart;
  throw SpecError(
      fmt::format("second_job.cores is apart, but the ranks use all {} cores of {}: leave it some by cores_per_rank, "
                  "or let the two share cores (second_job.cores shared)",
                  all.size(), rank_cores[rank].host));
}

}  // namespace chexbench::bench
