#include "verbs/doctor/doctor_surroundings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.hpp"
#include "report/figure_text.hpp"
#include "report/text_table.hpp"

namespace chexbench::verbs {
namespace {

using measure::cpu_list_text;

std::string counted(int count, std::string_view one) { return count_text(static_cast<std::uint64_t>(count), one); }

std::string cpu_line(const measure::CpuLayout& cpu) {
  std::vector<std::string> parts;
  if (cpu.sockets > 0) parts.push_back(counted(cpu.sockets, "socket"));
  if (!cpu.numa_nodes.empty()) parts.push_back(counted(static_cast<int>(cpu.numa_nodes.size()), "NUMA node"));
  if (cpu.physical_cores > 0) parts.push_back(counted(cpu.physical_cores, "physical core"));
  if (cpu.hardware_threads > 0) parts.push_back(counted(cpu.hardware_threads, "hardware thread"));
  for (const auto& [governor, cpus] : cpu.governors) parts.push_back(fmt::format("governor {} ({})", governor, cpus));
  if (cpu.load) parts.push_back(fmt::format("load {:.2f}", *cpu.load));
  return parts.empty() ? "" : fmt::format("CPUs: {}\n", fmt::join(parts, ", "));
}

std::string cgroup_line(const measure::CgroupLimits& cgroup) {
  std::vector<std::string> parts;
  if (cgroup.cpus) parts.push_back(fmt::format("CPU time of {:.2f} cores", *cgroup.cpus));
  if (cgroup.memory_bytes) {
    const auto used = cgroup.memory_used_bytes;
    parts.push_back(report::gigabytes(*cgroup.memory_bytes) + " of memory" +
                    (used ? ", used " + report::gigabytes(*used) : ""));
  }
  if (!cgroup.cpuset.empty()) parts.push_back("CPUs " + cpu_list_text(cgroup.cpuset));
  return parts.empty() ? "" : fmt::format("cgroup allows: {}\n", fmt::join(parts, "; "));
}

std::string memory_line(const measure::MemoryState& memory) {
  if (memory.total_bytes == 0) return "";
  return fmt::format(
      "memory: {} available of {}, page cache {}{}\n", report::gigabytes(memory.available_bytes),
      report::gigabytes(memory.total_bytes), report::gigabytes(memory.page_cache_bytes),
      memory.transparent_huge_pages.empty() ? "" : ", transparent huge pages " + memory.transparent_huge_pages);
}

std::string shared_line(const measure::SharedMemory& shared) {
  if (!shared.exists) return "";
  constexpr double kMegabyte = 1e6;
  return fmt::format("/dev/shm: {:.0f} MB free of {:.0f} MB{}\n", static_cast<double>(shared.free_bytes) / kMegabyte,
                     static_cast<double>(shared.total_bytes) / kMegabyte,
                     shared.problem.empty() ? "" : ", cannot be written to: " + shared.problem);
}

std::string threading_line(const std::vector<measure::Setting>& threading) {
  std::vector<std::string> parts;
  for (const measure::Setting& setting : threading) parts.push_back(setting.name + "=" + setting.value);
  return parts.empty() ? "" : fmt::format("threads: {}\n", fmt::join(parts, ", "));
}

std::string data_line(const measure::DataPlace& data) {
  const measure::FileSystem& system = data.file_system;
  std::string cache = data.cache_word();
  if (data.sample.files > 0)
    cache += fmt::format(": {:.0f} % of {}", 100 * data.cached_share(),
                         counted(static_cast<int>(data.sample.files), "sampled file"));
  if (data.sample.unknown_files > 0)
    cache += fmt::format(", {} of another owner, of which the kernel does not tell", data.sample.unknown_files);
  return fmt::format("data {}: {} file system ({}, {} on {}), page cache {}\n", data.root, to_string(system.kind),
                     system.type.empty() ? "?" : system.type, system.source.empty() ? "?" : system.source,
                     system.mount_point.empty() ? "?" : system.mount_point, cache);
}

std::string stripe_text(const measure::Stripe& stripe) {
  constexpr std::uint64_t kKibibyte = 1024;
  const std::string chunk = fmt::format("{} KiB", stripe.chunk_bytes / kKibibyte);
  if (!stripe.targets) return fmt::format("blocks of {} over all disks", chunk);
  if (*stripe.targets < 0) return fmt::format("{} on each of all targets in turn", chunk);
  if (*stripe.targets == 1) return "one target";
  return fmt::format("{} on each of {} targets in turn", chunk, *stripe.targets);
}

std::string striping_line(const measure::Striping& striping) {
  if (!striping.problem.empty())
    return fmt::format("{}: how it spreads files is not known, as {}\n", striping.system, striping.problem);
  std::vector<std::string> parts;
  for (const measure::Stripe& stripe : striping.stripes) parts.push_back(stripe_text(stripe));
  return fmt::format("{} spreads a new file of that folder: {} ({})\n", striping.system, fmt::join(parts, ", then "),
                     striping.tool);
}

std::string data_lines(const measure::DataPlace& data) {
  return data_line(data) + (data.striping ? striping_line(*data.striping) : "");
}

std::string rank_lines(const measure::Surroundings& around) {
  if (around.ranks.size() == 1) {
    const measure::RankPlace& rank = around.ranks.front();
    return fmt::format("one rank: cores {}, MPI {}\n", cpu_list_text(rank.cores), around.mpi);
  }
  report::TextTable table{
      .header = {"rank", "host", "bound to cores", "cores_per_rank"}, .rows = {}, .left_columns = 3};
  for (std::size_t r = 0; r < around.ranks.size(); ++r) {
    const measure::RankPlace& rank = around.ranks[r];
    table.rows.push_back(
        {std::to_string(r), rank.host, cpu_list_text(rank.cores), std::to_string(rank.cores_per_rank)});
  }
  return fmt::format("{} ranks, MPI {}:\n{}", around.ranks.size(), around.mpi, report::render(table));
}

}  // namespace

std::string surroundings_text(const measure::Surroundings& surroundings) {
  return cpu_line(surroundings.cpu) + cgroup_line(surroundings.cgroup) + memory_line(surroundings.memory) +
         shared_line(surroundings.shared) + threading_line(surroundings.threading) +
         (surroundings.data ? data_lines(*surroundings.data) : "") +
         (surroundings.ranks.empty() ? "" : rank_lines(surroundings));
}

}  // namespace chexbench::verbs
