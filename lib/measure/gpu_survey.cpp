#include "measure/gpu_survey.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "core/module.hpp"
#include "measure/system_files.hpp"

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
  for (const std::string& device : names_in(folder)) {
    const std::filesystem::path path = std::filesystem::path(folder) / device;
    // PCI class 03 is a display controller. It includes compute-only GPUs ("3D controller", 0302).
    if (first_word(path / "vendor") == "0x10de" && first_word(path / "class").starts_with("0x03"))
      found.push_back(device);
  }
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

namespace {

// How a library reports its version. NVIDIA's functions have one of two forms: `size_t f()`, or `int f(int*)`, which
// returns a status, 0 for success.
enum class Form { returns_size, writes_int };

// A packed version number is major * major_unit + minor * minor_unit + patch.
struct Packing {
  int major_unit;
  int minor_unit;
  bool has_patch;
};
constexpr Packing kCuda{1000, 10, false};       // cuda.h, cuda_runtime_api.h
constexpr Packing kLibrary{10'000, 100, true};  // cublas_api.h (CUBLAS_VERSION), cudnn_version.h, nccl.h

struct Kind {
  const char* name;
  std::vector<const char*> files;  // newest major version first
  const char* symbol;
  Form form;
  Packing packing;
};

const std::array<Kind, 5>& kinds() {
  static const std::array<Kind, 5> all{{
      {"CUDA driver", {"libcuda.so.1"}, "cuDriverGetVersion", Form::writes_int, kCuda},
      {"CUDA runtime", {"libcudart.so.13", "libcudart.so.12"}, "cudaRuntimeGetVersion", Form::writes_int, kCuda},
      {"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublasLtGetVersion", Form::returns_size, kLibrary},
      {"cuDNN", {"libcudnn.so.9", "libcudnn.so.8"}, "cudnnGetVersion", Form::returns_size, kLibrary},
      {"NCCL", {"libnccl.so.2"}, "ncclGetVersion", Form::writes_int, kLibrary},
  }};
  return all;
}

std::string path_of(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr ? map->l_name : "";
}

// Returns std::nullopt if the function reports no version, and sets `reason`.
std::optional<int> ask_version(void* function, const Kind& kind, std::string& reason) {
  int number = 0;
  int status = 0;
  if (kind.form == Form::returns_size) {
    number = static_cast<int>(reinterpret_cast<std::size_t (*)()>(function)());
  } else {
    status = reinterpret_cast<int (*)(int*)>(function)(&number);
  }
  if (status == 0 && number > 0) return number;
  reason = fmt::format("{} reports no version (status {})", kind.symbol, status);
  return std::nullopt;
}

void unpack(int number, const Packing& packing, GpuLibrary& library) {
  // cuDNN before 9 and NCCL before 2.9 packed the major version in units of 1000.
  const int major_unit = number < packing.major_unit ? 1000 : packing.major_unit;
  const int rest = number % major_unit;
  library.major = number / major_unit;
  library.version = fmt::format("{}.{}", library.major, rest / packing.minor_unit);
  if (packing.has_patch) library.version += fmt::format(".{}", rest % packing.minor_unit);
}

GpuLibrary describe(void* handle, const char* file, const Kind& kind) {
  GpuLibrary library{.name = kind.name, .file = file, .found = true, .path = path_of(handle)};
  void* const function = dlsym(handle, kind.symbol);
  if (function == nullptr) {
    library.reason = fmt::format("it has no {}", kind.symbol);
  } else if (const auto number = ask_version(function, kind, library.reason)) {
    unpack(*number, kind.packing, library);
  }
  return library;
}

void find(const Kind& kind, std::vector<GpuLibrary>& found) {
  std::vector<std::string> reasons;
  for (const char* const file : kind.files) {
    std::string reason;
    if (void* const handle = open_library(file, reason); handle != nullptr) {
      found.push_back(describe(handle, file, kind));
    } else {
      reasons.push_back(std::move(reason));
    }
  }
  if (reasons.size() < kind.files.size()) return;
  found.push_back({.name = kind.name,
                   .file = fmt::format("{}", fmt::join(kind.files, ", ")),
                   .reason = fmt::format("{}", fmt::join(reasons, "; "))});
}

}  // namespace

std::vector<GpuLibrary> find_gpu_libraries() {
  std::vector<GpuLibrary> found;
  for (const Kind& kind : kinds()) find(kind, found);
  return found;
}

std::optional<std::string> loaded_version(std::string_view name) {
  const auto kind = std::ranges::find(kinds(), name, &Kind::name);
  if (kind == kinds().end()) return std::nullopt;
  for (const char* const file : kind->files) {
    void* const handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    const GpuLibrary library = describe(handle, file, *kind);
    dlclose(handle);  // it stays loaded for its other users
    if (!library.version.empty()) return library.version;
  }
  return std::nullopt;
}

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
        "NVML reports {}, but the driver's libcuda.so.1 does not work: install the whole driver, or start the "
        "container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        gpus(survey.gpus.size()));
  }
  // A build without NVML cannot see the kernel module, so a working libcuda counts as a driver that answers.
  const bool answers = survey.build_has_nvml ? survey.nvml_answers : has_libcuda;
  if (survey.pci_bus_ids.empty() || answers) return {};
  return fmt::format("{} of NVIDIA on the PCI bus ({}), but no driver responds: {}", gpus(survey.pci_bus_ids.size()),
                     fmt::join(survey.pci_bus_ids, ", "),
                     survey.build_has_nvml ? survey.nvml_problem : "there is no libcuda.so.1 that works");
}

// CUDA's minor versions are compatible with each other: a runtime needs a driver of the same major version or a newer
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
