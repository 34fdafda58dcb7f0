#include <nlohmann/json.hpp>

#include "report/doctor.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

Json machine_to_json(const measure::Machine& machine) {
  return {{"host", machine.host},     {"cpu", machine.cpu},
          {"cores", machine.cores},   {"memory_bytes", machine.memory_bytes},
          {"kernel", machine.kernel}, {"instruction_set", machine.instruction_set}};
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

}  // namespace

std::string doctor_json(const Doctor& doctor) {
  Json object = {{"chexbench_version", doctor.chexbench_version},
                 {"machine", machine_to_json(doctor.machine)},
                 {"build", packages_to_json(doctor.packages)},
                 {"driver", driver_to_json(doctor.survey)},
                 {"pci_bus_ids", doctor.survey.pci_bus_ids},
                 {"gpus", Json::array()},
                 {"gpu_problems", doctor.survey.gpu_problems},
                 {"libraries", Json::array()},
                 {"misfits", doctor.misfits}};
  for (const measure::GpuInfo& gpu : doctor.survey.gpus) object["gpus"].push_back(gpu_to_json(gpu));
  for (const measure::GpuLibrary& library : doctor.libraries) object["libraries"].push_back(library_to_json(library));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::report
