#include "measure/machine.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>

#include "core/affinity.hpp"
#include "core/cpu_features.hpp"
#include "measure/cpu.hpp"

namespace chexbench::measure {
namespace {

std::uint64_t total_memory_bytes() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
}

// Returns the part of /proc/cpuinfo about the first CPU.
std::string first_cpu() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) text += line + '\n';
  return text;
}

std::vector<std::string> unused_sets(const std::optional<CpuKind>& kind, const std::string& cpu) {
  if (!kind) return {};
  const bool virtual_machine = cpu.find(" hypervisor ") != std::string::npos;
  return unused_instruction_sets(*kind, x86_features(), cpu_features(), virtual_machine);
}

}  // namespace

Machine probe_machine() {
  utsname system{};
  uname(&system);
  const std::string cpu = first_cpu();
  const std::optional<CpuKind> kind = find_cpu_kind(cpu);
  return {.host = system.nodename,
          .cpu = cpu_features().model,
          .cpu_kind = kind ? kind->name : "",
          .cores = static_cast<int>(usable_cores().size()),
          .memory_bytes = total_memory_bytes(),
          .kernel = std::string(system.sysname) + " " + system.release,
          .unused_instruction_sets = unused_sets(kind, cpu)};
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
