#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/figure_text.hpp"
#include "verbs/doctor/doctor_result.hpp"
#include "verbs/doctor/doctor_surroundings.hpp"

namespace chexbench::verbs {
namespace {

constexpr std::size_t kIndent = 3;

// A line that begins with the program's name would be taken for a command, and not be broken.
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
