#include "measure/gpu_libraries.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/module.hpp"

namespace chexbench::measure {
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
  reason = fmt::format("{} tells no version (status {})", kind.symbol, status);
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

}  // namespace chexbench::measure
