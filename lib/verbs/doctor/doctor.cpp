#include "verbs/doctor/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/core_layout.hpp"
#include "core/text.hpp"
#include "engine/registry.hpp"
#include "image/isa.hpp"
#include "report/text_table.hpp"
#include "spec/trial_spec.hpp"
#include "verbs/doctor/store_probe.hpp"

namespace chexbench::verbs {
namespace {

std::vector<measure::BoundRank> find_rank_places(comm::World& world) {
  const std::vector<bench::RankCores> ranks = bench::gather_rank_cores(world);
  std::vector<measure::BoundRank> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bench::CoreShare share =
        bench::share_cores(bench::host_cores_of(ranks, rank), {}, static_cast<int>(ranks.size()));
    places.push_back(
        {.host = ranks[rank].host, .cores = ranks[rank].cores, .cores_per_rank = static_cast<int>(share.cores.size())});
  }
  return places;
}

std::vector<measure::EnvironmentSetting> find_settings() {
  std::vector<measure::EnvironmentSetting> settings;
  for (const std::string& name : measure::threading_variables()) {
    if (const char* const value = std::getenv(name.c_str())) settings.push_back({name, value});
  }
  return settings;
}

measure::Surroundings look_around(const DoctorRequest& request, std::vector<measure::BoundRank> ranks,
                                  const std::string& mpi) {
  measure::Surroundings around{.cpu = measure::probe_cpu_layout(request.roots),
                               .cgroup = measure::probe_cgroup_limits(request.roots),
                               .memory = measure::probe_memory(request.roots),
                               .shared = measure::probe_shared_memory(request.roots),
                               .threading = find_settings(),
                               .ranks = std::move(ranks),
                               .mpi = mpi,
                               .data = {}};
  if (!request.data_root.empty() && !spec::is_url(request.data_root)) {
    around.data = measure::look_at_data(request.data_root, request.roots);
    around.data->striping = measure::find_striping(around.data->file_system, request.data_root);
  }
  return around;
}

}  // namespace

Doctor examine(const DoctorRequest& request, comm::World& world) {
  std::vector<measure::BoundRank> ranks = find_rank_places(world);
  if (world.communicator().rank() != 0) return {};
  Doctor doctor;
  doctor.surroundings = look_around(request, std::move(ranks), world.library());
  if (spec::is_url(request.data_root)) doctor.store = probe_store(request.data_root);
  doctor.warnings = measure::warnings(doctor.surroundings);
  doctor.machine = measure::probe_machine();
  doctor.preprocessing_instruction_set = to_string(image::best_isa());
  if (const engine::EngineKind& onednn = *engine::find_engine_kind("onednn"); onednn.usable())
    doctor.training_instruction_sets = onednn.instruction_sets();
  doctor.packages = {
      {"MPI", CHEXBENCH_HAS_MPI},      {"oneDNN", CHEXBENCH_HAS_ONEDNN}, {"OpenCV", CHEXBENCH_HAS_OPENCV},
      {"ISA-L", CHEXBENCH_HAS_ISAL},   {"cuDNN", CHEXBENCH_HAS_CUDNN},   {"NCCL", CHEXBENCH_HAS_NCCL},
      {"NVML", CHEXBENCH_HAS_NVML},    {"libcurl", CHEXBENCH_HAS_CURL},  {"libcrypto", CHEXBENCH_HAS_CRYPTO},
      {"pugixml", CHEXBENCH_HAS_PUGI}, {"libnfs", CHEXBENCH_HAS_NFS},    {"libjpeg-turbo", CHEXBENCH_HAS_JPEG},
      {"DCMTK", CHEXBENCH_HAS_DCMTK}};
  doctor.survey = measure::survey_gpus();
  doctor.libraries = measure::find_gpu_libraries();
  doctor.misfits = measure::misfits(doctor.survey, doctor.libraries);
  return doctor;
}

bool needs_mending(const Doctor& doctor) { return doctor.survey.has_gpu() && !doctor.misfits.empty(); }

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

std::string threading_line(const std::vector<measure::EnvironmentSetting>& threading) {
  std::vector<std::string> parts;
  for (const measure::EnvironmentSetting& setting : threading) parts.push_back(setting.name + "=" + setting.value);
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
    const measure::BoundRank& rank = around.ranks.front();
    return fmt::format("one rank: cores {}, MPI {}\n", cpu_list_text(rank.cores), around.mpi);
  }
  report::TextTable table{
      .header = {"rank", "host", "bound to cores", "cores_per_rank"}, .rows = {}, .left_columns = 3};
  for (std::size_t r = 0; r < around.ranks.size(); ++r) {
    const measure::BoundRank& rank = around.ranks[r];
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
