#include "measure/gpu_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/errors.hpp"

namespace chexbench::measure {
namespace {

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

void ask_nvml(GpuSurvey& survey) {
  const std::unique_ptr<Nvml> nvml = open_nvml();
  const unsigned count = nvml->count();
  survey.nvml_answers = true;
  survey.driver_version = nvml->driver_version();
  survey.cuda_version = nvml->cuda_version();
  for (unsigned index = 0; index < count; ++index) {
    try {
      survey.gpus.push_back(nvml->gpu(index)->info());
    } catch (const DeviceError& error) {  // the others are still worth knowing
      survey.gpu_problems.emplace_back(error.what());
    }
  }
}

}  // namespace

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::vector<std::string> pci_gpus(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& device : std::filesystem::directory_iterator(folder, ignored)) {
    // PCI class 03 is a display controller. It includes compute-only GPUs ("3D controller", 0302).
    if (first_word(device.path() / "vendor") == "0x10de" && first_word(device.path() / "class").starts_with("0x03")) {
      found.push_back(device.path().filename());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

GpuSurvey survey_gpus() {
  GpuSurvey survey;
  survey.pci_bus_ids = pci_gpus();
  survey.build_has_nvml = has_nvml();
  try {
    ask_nvml(survey);
  } catch (const DeviceError& error) {
    survey.nvml_problem = error.what();
  }
  return survey;
}

}  // namespace chexbench::measure
