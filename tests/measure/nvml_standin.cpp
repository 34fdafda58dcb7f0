// The script, and the functions that every driver has: initializing, counting GPUs, and returning their handles.
#include "measure/nvml_standin.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace standin {
namespace {

const std::map<std::string, std::vector<std::string>> kHealthy{{"init", {"0"}},
                                                               {"gpus", {"1"}},
                                                               {"handle", {"0"}},
                                                               {"cuda", {"13000"}},
                                                               {"utilization", {"90"}},
                                                               {"memory_utilization", {"40"}},
                                                               {"memory_used", {"1024"}},
                                                               {"sm_clock", {"1980"}},
                                                               {"memory_clock", {"2619"}},
                                                               {"power", {"650000"}},
                                                               {"temperature", {"55"}},
                                                               {"reasons", {"0"}},
                                                               {"ecc", {"0"}},
                                                               {"energy", {"0"}},
                                                               {"gpm", {"1"}},
                                                               {"gpm_sample", {"0"}},
                                                               {"sm_activity", {"60"}},
                                                               {"tensor_activity", {"30"}},
                                                               {"dram_activity", {"50"}}};

std::mutex mutex;  // guards all variables below
int users = 0;
std::map<std::string, std::vector<std::string>> script;
std::map<std::string, std::size_t> calls;

void read_script() {
  script = kHealthy;
  calls.clear();
  const char* const file = std::getenv("CHEXBENCH_NVML_STANDIN");
  std::ifstream lines(file != nullptr ? file : "");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    std::vector<std::string> values;
    for (std::string value; words >> value;) values.push_back(value);
    if (!values.empty()) script[key] = values;
  }
}

Answer parse(const std::string& text) {
  const bool failure = text.starts_with("!");
  const unsigned long long number = std::stoull(text.substr(failure ? 1 : 0), nullptr, 0);
  return failure ? Answer{static_cast<nvmlReturn_t>(number), 0} : Answer{NVML_SUCCESS, number};
}

Answer pick(const char* key, std::size_t place) {
  const std::vector<std::string>& values = script.at(key);
  return parse(values[std::min(place, values.size() - 1)]);
}

}  // namespace

Answer next(const char* key) {
  const std::lock_guard lock(mutex);
  return users > 0 ? pick(key, calls[key]++) : Answer{NVML_ERROR_UNINITIALIZED, 0};
}

Answer at(const char* key, unsigned place) {
  const std::lock_guard lock(mutex);
  return users > 0 ? pick(key, place) : Answer{NVML_ERROR_UNINITIALIZED, 0};
}

unsigned index_of(nvmlDevice_t device) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1; }

}  // namespace standin

// For tests: returns how many users have initialized the library and not shut it down.
extern "C" int nvml_standin_users() {
  const std::lock_guard lock(standin::mutex);
  return standin::users;
}

nvmlReturn_t nvmlInit_v2() {
  const std::lock_guard lock(standin::mutex);
  if (standin::users == 0) standin::read_script();
  const nvmlReturn_t status = standin::pick("init", 0).status;
  if (status == NVML_SUCCESS) ++standin::users;
  return status;
}

nvmlReturn_t nvmlShutdown() {
  const std::lock_guard lock(standin::mutex);
  if (standin::users == 0) return NVML_ERROR_UNINITIALIZED;
  --standin::users;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t status) {
  switch (status) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "Driver/library version mismatch";
    case NVML_ERROR_GPU_IS_LOST:
      return "GPU is lost";
    default:
      return "Another Error";
  }
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) { return standin::write("gpus", count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= standin::at("gpus", 0).value) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
  return standin::at("handle", index).status;
}
