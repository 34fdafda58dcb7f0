#include "verbs/doctor/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "core/text.hpp"
#include "report/text_table.hpp"
#include "results/record_json.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

Json machine_to_json(const measure::Machine& machine) {
  return {{"host", machine.host},
          {"cpu", machine.cpu},
          {"cpu_kind", machine.cpu_kind},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"kernel", machine.kernel},
          {"unused_instruction_sets", machine.unused_instruction_sets}};
}

Json packages_to_json(const std::vector<BuildPackage>& packages) {
  Json object = Json::object();
  for (const BuildPackage& package : packages) object[package.name] = package.present;
  return object;
}

Json driver_to_json(const measure::GpuSurvey& survey) {
  return {{"answers", survey.nvml_answers},
          {"problem", survey.nvml_problem},
          {"version", survey.driver_version},
          {"cuda_version", survey.cuda_version ? measure::cuda_version_text(*survey.cuda_version) : ""}};
}

Json gpu_to_json(const measure::GpuInfo& gpu) {
  return {{"index", gpu.index},
          {"name", gpu.name},
          {"uuid", gpu.uuid},
          {"pci_bus_id", gpu.pci_bus_id},
          {"memory_bytes", gpu.memory_bytes}};
}

Json library_to_json(const measure::GpuLibrary& library) {
  return {{"name", library.name},       {"file", library.file}, {"found", library.found},
          {"version", library.version}, {"path", library.path}, {"reason", library.reason}};
}

Json cpu_to_json(const measure::CpuLayout& cpu) {
  return {{"sockets", cpu.sockets},
          {"physical_cores", cpu.physical_cores},
          {"hardware_threads", cpu.hardware_threads},
          {"numa_nodes", cpu.numa_nodes},
          {"governors", cpu.governors},
          {"turbo", cpu.turbo},
          {"smt", cpu.smt},
          {"mitigations", cpu.mitigations},
          {"load", or_null(cpu.load)}};
}

Json cgroup_to_json(const measure::CgroupLimits& cgroup) {
  return {{"cpus", or_null(cgroup.cpus)},
          {"memory_bytes", or_null(cgroup.memory_bytes)},
          {"memory_used_bytes", or_null(cgroup.memory_used_bytes)},
          {"cpuset", cgroup.cpuset}};
}

Json memory_to_json(const measure::MemoryState& memory) {
  return {{"total_bytes", memory.total_bytes},
          {"available_bytes", memory.available_bytes},
          {"page_cache_bytes", memory.page_cache_bytes},
          {"transparent_huge_pages", memory.transparent_huge_pages}};
}

Json shared_to_json(const measure::SharedMemory& shared) {
  return {{"exists", shared.exists},
          {"total_bytes", shared.total_bytes},
          {"free_bytes", shared.free_bytes},
          {"problem", shared.problem}};
}

Json striping_to_json(const measure::Striping& striping) {
  Json object = Json::object();
  results::visit_fields(results::JsonWriter(object), striping);
  return object;
}

Json data_to_json(const measure::DataPlace& data) {
  return {{"root", data.root},
          {"kind", to_string(data.file_system.kind)},
          {"file_system", data.file_system.type},
          {"source", data.file_system.source},
          {"mount_point", data.file_system.mount_point},
          {"page_cache", data.cache_word()},
          {"sampled_files", data.sample.files},
          {"sampled_bytes", data.sample.bytes},
          {"cached_bytes", data.sample.resident_bytes},
          {"unknown_files", data.sample.unknown_files},
          {"striping", data.striping ? striping_to_json(*data.striping) : Json()}};
}

Json store_to_json(const StoreProbe& store) {
  return {{"root", store.root},
          {"kind", store.kind},
          {"first_request_s", store.first_request_s},
          {"next_request_s", store.next_request_s},
          {"file", store.file},
          {"read_bytes", store.read_bytes},
          {"read_s", store.read_s}};
}

Json bound_rank_to_json(const measure::BoundRank& rank) {
  return {{"host", rank.host}, {"cores", rank.cores}, {"cores_per_rank", rank.cores_per_rank}};
}

void add_surroundings(Json& object, const measure::Surroundings& around) {
  object["cpu"] = cpu_to_json(around.cpu);
  object["cgroup"] = cgroup_to_json(around.cgroup);
  object["memory"] = memory_to_json(around.memory);
  object["shared_memory"] = shared_to_json(around.shared);
  results::JsonWriter{object}("network", around.network);
  object["mpi"] = around.mpi;
  object["ranks"] = list_of(around.ranks, bound_rank_to_json);
  object["threading"] = Json::object();
  for (const measure::EnvironmentSetting& setting : around.threading) object["threading"][setting.name] = setting.value;
  object["data"] = around.data ? data_to_json(*around.data) : Json();
}

using measure::cpu_list_text;

std::string counted(int count, std::string_view one) { return count_text(static_cast<std::uint64_t>(count), one); }

std::string cpu_line(const measure::CpuLayout& cpu) {
  std::vector<std::string> parts;
  if (cpu.sockets > 0) parts.push_back(counted(cpu.sockets, "socket"));
  if (!cpu.numa_nodes.empty()) parts.push_back(counted(static_cast<int>(cpu.numa_nodes.size()), "NUMA node"));
  if (cpu.physical_cores > 0) parts.push_back(counted(cpu.physical_cores, "physical core"));
  if (cpu.hardware_threads > 0) parts.push_back(counted(cpu.hardware_threads, "hardware thread"));
  for (const auto& [governor, cpus] : cpu.governors) parts.push_back(fmt::format("governor {} ({})", governor, cpus));
  if (!cpu.turbo.empty()) parts.push_back("turbo " + cpu.turbo);
  if (!cpu.smt.empty()) parts.push_back("SMT " + cpu.smt);
  if (!cpu.mitigations.empty()) parts.push_back("mitigations " + cpu.mitigations);
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

std::string network_line(const std::vector<measure::NetworkInterface>& network) {
  return network.empty() ? "" : fmt::format("network: {}\n", measure::to_string(network));
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
    cache += fmt::format(", unknown for {} of another owner", data.sample.unknown_files);
  return fmt::format("data {}: {} file system ({}, {} on {}), page cache {}\n", data.root, to_string(system.kind),
                     system.type.empty() ? "?" : system.type, system.source.empty() ? "?" : system.source,
                     system.mount_point.empty() ? "?" : system.mount_point, cache);
}

std::string striping_line(const measure::Striping& striping) {
  if (!striping.problem.empty())
    return fmt::format("{}: how it spreads files is unknown: {}\n", striping.system, striping.problem);
  return fmt::format("{} spreads a new file of that folder: {} ({})\n", striping.system, stripes_text(striping),
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

// Returns one line per topic, without unknown topics.
std::string surroundings_text(const measure::Surroundings& surroundings) {
  return cpu_line(surroundings.cpu) + cgroup_line(surroundings.cgroup) + memory_line(surroundings.memory) +
         shared_line(surroundings.shared) + network_line(surroundings.network) +
         threading_line(surroundings.threading) + (surroundings.data ? data_lines(*surroundings.data) : "") +
         (surroundings.ranks.empty() ? "" : rank_lines(surroundings));
}

constexpr std::size_t kIndent = 3;

// A line that begins with the program's name would look like a command and not be wrapped.
std::string build_line(const Doctor& doctor, const report::LineWidth& width) {
  std::vector<std::string> with;
  std::vector<std::string> without;
  for (const BuildPackage& package : doctor.packages) (package.present ? with : without).push_back(package.name);
  std::string line = "chexbench " CHEXBENCH_VERSION;
  if (!with.empty()) line += fmt::format(", built with {}", fmt::join(with, ", "));
  if (!without.empty()) line += fmt::format(", without {}", fmt::join(without, ", "));
  return report::wrapped(line, width, kIndent) + "\n";
}

std::string machine_line(const measure::Machine& machine) {
  const std::string kind = machine.cpu_kind.empty() ? "" : " (" + machine.cpu_kind + ")";
  return fmt::format("machine {}: {}{}, {} core{}, {}, {}\n", machine.host, machine.cpu, kind, machine.cores,
                     machine.cores == 1 ? "" : "s", report::gigabytes(machine.memory_bytes), machine.kernel);
}

std::string instruction_sets_line(const Doctor& doctor) {
  std::string line = "instruction sets: preprocessing uses " + doctor.preprocessing_instruction_set;
  if (!doctor.training_instruction_sets.empty()) line += "; training uses " + doctor.training_instruction_sets;
  if (!doctor.machine.unused_instruction_sets.empty())
    line += fmt::format("; not used: {}", fmt::join(doctor.machine.unused_instruction_sets, ", "));
  return line + "\n";
}

std::string driver_line(const measure::GpuSurvey& survey) {
  if (!survey.nvml_answers) {
    return (survey.build_has_nvml ? "NVIDIA driver does not respond: " : "NVIDIA driver not queried: ") +
           survey.nvml_problem + "\n";
  }
  const std::string version = survey.driver_version.empty() ? "of unknown version" : survey.driver_version;
  return fmt::format("driver {}{}\n", version,
                     survey.cuda_version ? ", serves CUDA " + measure::cuda_version_text(*survey.cuda_version) : "");
}

std::string gpu_table(const measure::GpuSurvey& survey, const report::LineWidth& width) {
  if (!survey.has_gpu()) return "no NVIDIA GPU was found\n";
  if (survey.gpus.empty()) return fmt::format("GPUs on the PCI bus: {}\n", fmt::join(survey.pci_bus_ids, ", "));
  report::TextTable table{
      .header = {"gpu", "name", "memory", "pci_bus_id", "uuid"}, .left_columns = 5, .expendable = {4, 3}};
  for (const measure::GpuInfo& gpu : survey.gpus) {
    table.rows.push_back(
        {std::to_string(gpu.index), gpu.name, report::gigabytes(gpu.memory_bytes), gpu.pci_bus_id, gpu.uuid});
  }
  return report::fitted_text(table, width, "--format json");
}

std::string library_table(const std::vector<measure::GpuLibrary>& libraries, const report::LineWidth& width) {
  report::TextTable table{.header = {"library", "version", "from", "note"}, .left_columns = 3, .last_left = true};
  for (const measure::GpuLibrary& library : libraries) {
    table.rows.push_back(
        {library.name, library.version, library.path, library.found ? library.reason : "not found: " + library.reason});
  }
  return report::fitted_text(table, width, "--format json");
}

// Returns the answer: "No conflicts found; 2 things distort measurements:", and what it counts.
std::string answer_lines(const Doctor& doctor) {
  std::string text = doctor.misfits.empty()
                         ? "No conflicts found"
                         : count_text(doctor.misfits.size(), "conflict") + " between installed components";
  text += doctor.warnings.empty()
              ? ", and nothing that distorts measurements.\n"
              : fmt::format("; {} distort{} measurements:\n", count_text(doctor.warnings.size(), "thing"),
                            doctor.warnings.size() == 1 ? "s" : "");
  for (const std::string& misfit : doctor.misfits) text += "does not fit: " + misfit + "\n";
  for (const std::string& warning : doctor.warnings) text += "- " + warning + "\n";
  return text;
}

std::string store_line(const StoreProbe& store) {
  const double megabytes = static_cast<double>(store.read_bytes) / 1e6;
  return fmt::format(
      "data {}: a server ({}), first request {:.1f} ms, next one {:.1f} ms; {:.1f} MB of {} at {:.1f} MB/s\n",
      store.root, store.kind, 1e3 * store.first_request_s, 1e3 * store.next_request_s, megabytes,
      store.file.substr(std::min(store.root.size() + 1, store.file.size())),
      store.read_s > 0 ? megabytes / store.read_s : 0);
}

}  // namespace

std::string doctor_json(const Doctor& doctor) {
  Json object = {{"chexbench_version", CHEXBENCH_VERSION},
                 {"machine", machine_to_json(doctor.machine)},
                 {"preprocessing_instruction_set", doctor.preprocessing_instruction_set},
                 {"training_instruction_sets", doctor.training_instruction_sets},
                 {"build", packages_to_json(doctor.packages)},
                 {"driver", driver_to_json(doctor.survey)},
                 {"pci_bus_ids", doctor.survey.pci_bus_ids},
                 {"gpus", list_of(doctor.survey.gpus, gpu_to_json)},
                 {"gpu_problems", doctor.survey.gpu_problems},
                 {"libraries", list_of(doctor.libraries, library_to_json)},
                 {"misfits", doctor.misfits}};
  add_surroundings(object, doctor.surroundings);
  object["store"] = doctor.store ? store_to_json(*doctor.store) : Json();
  object["warnings"] = doctor.warnings;
  return indented_json(object);
}

std::string doctor_table(const Doctor& doctor, const report::LineWidth& width, bool brief) {
  const measure::Surroundings& around = doctor.surroundings;
  std::string text = answer_lines(doctor) + "\n";
  if (!brief) text += build_line(doctor, width);
  text += machine_line(doctor.machine);
  if (!brief) text += instruction_sets_line(doctor);
  text += brief ? (around.data ? data_lines(*around.data) : "") + (around.ranks.size() > 1 ? rank_lines(around) : "")
                : surroundings_text(around);
  if (doctor.store) text += store_line(*doctor.store);
  if (!brief || doctor.survey.has_gpu()) text += driver_line(doctor.survey);
  text += gpu_table(doctor.survey, width);
  return text + (brief ? "details  --explain shows limits, memory, ranks and libraries\n"
                       : "\n" + library_table(doctor.libraries, width));
}

}  // namespace chexbench::verbs
