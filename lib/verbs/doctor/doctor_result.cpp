#include "verbs/doctor/doctor_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/text_table.hpp"
#include "verbs/doctor/doctor.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

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

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json cpu_to_json(const measure::CpuLayout& cpu) {
  return {{"sockets", cpu.sockets},
          {"physical_cores", cpu.physical_cores},
          {"hardware_threads", cpu.hardware_threads},
          {"numa_nodes", cpu.numa_nodes},
          {"governors", cpu.governors},
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
  Json object = {{"system", striping.system}, {"tool", striping.tool}, {"stripes", Json::array()}};
  for (const measure::Stripe& stripe : striping.stripes)
    object["stripes"].push_back({{"targets", or_null(stripe.targets)}, {"chunk_bytes", stripe.chunk_bytes}});
  object["problem"] = striping.problem;
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

Json ranks_to_json(const std::vector<measure::BoundRank>& ranks) {
  Json list = Json::array();
  for (const measure::BoundRank& rank : ranks)
    list.push_back({{"host", rank.host}, {"cores", rank.cores}, {"cores_per_rank", rank.cores_per_rank}});
  return list;
}

void add_surroundings(Json& object, const measure::Surroundings& around) {
  object["cpu"] = cpu_to_json(around.cpu);
  object["cgroup"] = cgroup_to_json(around.cgroup);
  object["memory"] = memory_to_json(around.memory);
  object["shared_memory"] = shared_to_json(around.shared);
  object["mpi"] = around.mpi;
  object["ranks"] = ranks_to_json(around.ranks);
  object["threading"] = Json::object();
  for (const measure::EnvironmentSetting& setting : around.threading) object["threading"][setting.name] = setting.value;
  object["data"] = around.data ? data_to_json(*around.data) : Json();
}

}  // namespace

std::string doctor_json(const Doctor& doctor) {
  Json object = {{"chexbench_version", doctor.chexbench_version},
                 {"machine", machine_to_json(doctor.machine)},
                 {"preprocessing_instruction_set", doctor.preprocessing_instruction_set},
                 {"training_instruction_sets", doctor.training_instruction_sets},
                 {"build", packages_to_json(doctor.packages)},
                 {"driver", driver_to_json(doctor.survey)},
                 {"pci_bus_ids", doctor.survey.pci_bus_ids},
                 {"gpus", Json::array()},
                 {"gpu_problems", doctor.survey.gpu_problems},
                 {"libraries", Json::array()},
                 {"misfits", doctor.misfits}};
  for (const measure::GpuInfo& gpu : doctor.survey.gpus) object["gpus"].push_back(gpu_to_json(gpu));
  for (const measure::GpuLibrary& library : doctor.libraries) object["libraries"].push_back(library_to_json(library));
  add_surroundings(object, doctor.surroundings);
  object["store"] = doctor.store ? store_to_json(*doctor.store) : Json();
  object["warnings"] = doctor.warnings;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

constexpr std::size_t kIndent = 3;

// A line that begins with the program's name would be taken for a command and not be wrapped.
std::string build_line(const Doctor& doctor, const report::LineWidth& width) {
  std::vector<std::string> with;
  std::vector<std::string> without;
  for (const BuildPackage& package : doctor.packages) (package.present ? with : without).push_back(package.name);
  std::string line = "chexbench " + doctor.chexbench_version;
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
    return (survey.build_has_nvml ? "no driver answers: " : "driver not asked: ") + survey.nvml_problem + "\n";
  }
  const std::string version = survey.driver_version.empty() ? "of unknown version" : survey.driver_version;
  return fmt::format("driver {}{}\n", version,
                     survey.cuda_version ? ", serves CUDA " + measure::cuda_version_text(*survey.cuda_version) : "");
}

std::string gpu_table(const measure::GpuSurvey& survey, const report::LineWidth& width) {
  if (!survey.has_gpu()) return "no GPU of NVIDIA was found\n";
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

std::string fit_lines(const Doctor& doctor) {
  if (doctor.misfits.empty()) return "What was found fits together.\n";
  std::string text;
  for (const std::string& misfit : doctor.misfits) text += "does not fit: " + misfit + "\n";
  return text;
}

std::string warning_lines(const Doctor& doctor) {
  if (doctor.warnings.empty()) return "Nothing was found that would distort measurements.\n";
  std::string text = "What spoils measurements (no exit code):\n";
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

std::string doctor_table(const Doctor& doctor, const report::LineWidth& width) {
  return build_line(doctor, width) + machine_line(doctor.machine) + instruction_sets_line(doctor) +
         surroundings_text(doctor.surroundings) + (doctor.store ? store_line(*doctor.store) : "") +
         driver_line(doctor.survey) + "\n" + gpu_table(doctor.survey, width) + "\n" +
         library_table(doctor.libraries, width) + "\n" + fit_lines(doctor) + warning_lines(doctor);
}

}  // namespace chexbench::verbs
