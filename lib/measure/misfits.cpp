#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "measure/gpu_libraries.hpp"

namespace chexbench::measure {
namespace {

// Returns the entries of one kind that have a version.
std::vector<GpuLibrary> versions_of(const std::string& name, std::span<const GpuLibrary> libraries) {
  std::vector<GpuLibrary> found;
  std::copy_if(libraries.begin(), libraries.end(), std::back_inserter(found),
               [&name](const GpuLibrary& library) { return library.name == name && library.major > 0; });
  return found;
}

std::string list(const std::vector<GpuLibrary>& libraries) {
  std::vector<std::string> items;
  for (const GpuLibrary& library : libraries) items.push_back(fmt::format("{} ({})", library.version, library.path));
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string gpus(std::size_t count) { return count == 1 ? "1 GPU" : fmt::format("{} GPUs", count); }

std::string gpu_without_driver(const GpuSurvey& survey, std::span<const GpuLibrary> libraries) {
  const bool has_libcuda = !versions_of("CUDA driver", libraries).empty();
  if (!survey.gpus.empty() && !has_libcuda) {
    return fmt::format(
        "NVML tells of {}, but the driver's libcuda.so.1 does not work: install the whole driver, or start the "
        "container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        gpus(survey.gpus.size()));
  }
  // A build without NVML cannot see the kernel module, so a working libcuda counts as a driver that answers.
  const bool answers = survey.build_has_nvml ? survey.nvml_answers : has_libcuda;
  if (survey.pci_bus_ids.empty() || answers) return {};
  return fmt::format("{} of NVIDIA on the PCI bus ({}), but no driver answers: {}", gpus(survey.pci_bus_ids.size()),
                     fmt::join(survey.pci_bus_ids, ", "),
                     survey.build_has_nvml ? survey.nvml_problem : "there is no libcuda.so.1 that works");
}

// CUDA's minor versions are compatible with each other: a runtime needs a driver of its own major version or a newer
// one ("CUDA Compatibility", NVIDIA, chapter on minor version compatibility).
std::string old_driver(std::span<const GpuLibrary> libraries) {
  const auto drivers = versions_of("CUDA driver", libraries);
  const auto runtimes = versions_of("CUDA runtime", libraries);
  if (drivers.empty() || runtimes.empty()) return {};
  const auto served = [&](const GpuLibrary& runtime) { return runtime.major <= drivers.front().major; };
  if (std::any_of(runtimes.begin(), runtimes.end(), served)) return {};
  const int wanted = runtimes.back().major;  // the oldest one found
  return fmt::format(
      "the driver serves CUDA {} at most, and the CUDA runtime is {}: CUDA {} wants a driver for CUDA {}.0 or later; "
      "update the driver, or use libraries and a chexbench of CUDA {}",
      drivers.front().version, list(runtimes), wanted, wanted, drivers.front().major);
}

std::string other_major(const std::string& name, int wanted, std::span<const GpuLibrary> libraries) {
  const auto found = versions_of(name, libraries);
  const auto fits = [wanted](const GpuLibrary& library) { return library.major == wanted; };
  if (found.empty() || std::any_of(found.begin(), found.end(), fits)) return {};
  return fmt::format("{} is {}, and chexbench needs {} {}", name, list(found), name, wanted);
}

}  // namespace

std::vector<std::string> misfits(const GpuSurvey& survey, std::span<const GpuLibrary> libraries) {
  std::vector<std::string> sentences = survey.gpu_problems;
  for (std::string& sentence :
       std::vector<std::string>{gpu_without_driver(survey, libraries), old_driver(libraries),
                                other_major("cuDNN", 9, libraries), other_major("NCCL", 2, libraries)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace chexbench::measure
