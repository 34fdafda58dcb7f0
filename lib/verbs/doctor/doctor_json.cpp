#include <nlohmann/json.hpp>

#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

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

Json ranks_to_json(const std::vector<measure::RankPlace>& ranks) {
  Json list = Json::array();
  for (const measure::RankPlace& rank : ranks)
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
  for (const measure::Setting& setting : around.threading) object["threading"][setting.name] = setting.value;
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

}  // namespace chexbench::verbs
