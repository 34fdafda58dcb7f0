#include "measure/machine.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <ctime>

#include "core/affinity.hpp"
#include "core/cpu_features.hpp"

namespace chexbench::measure {
namespace {

std::uint64_t total_memory_bytes() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
}

std::string instruction_set() {
  if (cpu_features().avx512) return "avx512";
  return cpu_features().avx2 ? "avx2" : "baseline";
}

}  // namespace

Machine probe_machine() {
  utsname system{};
  uname(&system);
  return {.host = system.nodename,
          .cpu = cpu_features().model,
          .cores = static_cast<int>(usable_cores().size()),
          .memory_bytes = total_memory_bytes(),
          .kernel = std::string(system.sysname) + " " + system.release,
          .instruction_set = instruction_set()};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace chexbench::measure
