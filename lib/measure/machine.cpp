#include "measure/machine.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/affinity.hpp"
#include "core/cpu_features.hpp"
#include "core/numbers.hpp"

namespace chexbench::measure {
namespace {

enum class Level { avx2, avx512, bf16, amx };

// Families and models as in Linux's arch/x86/include/asm/intel-family.h and arch/x86/kernel/cpu/amd.c. Intel kept one
// model number for three generations of servers, which differ in the stepping.
struct Row {
  std::string_view vendor;
  int family;
  int first_model, last_model;
  int first_stepping, last_stepping;
  std::string_view name;
  Level level;
};
constexpr std::string_view kIntel = "GenuineIntel";
constexpr std::string_view kAmd = "AuthenticAMD";
constexpr std::array<Row, 22> kRows = {{{kIntel, 6, 63, 63, 0, 15, "Haswell", Level::avx2},
                                        {kIntel, 6, 79, 79, 0, 15, "Broadwell", Level::avx2},
                                        {kIntel, 6, 86, 86, 0, 15, "Broadwell", Level::avx2},
                                        {kIntel, 6, 85, 85, 0, 4, "Skylake-SP", Level::avx512},
                                        {kIntel, 6, 85, 85, 5, 9, "Cascade Lake", Level::avx512},
                                        {kIntel, 6, 85, 85, 10, 15, "Cooper Lake", Level::bf16},
                                        {kIntel, 6, 106, 106, 0, 15, "Ice Lake", Level::avx512},
                                        {kIntel, 6, 108, 108, 0, 15, "Ice Lake", Level::avx512},
                                        {kIntel, 6, 143, 143, 0, 15, "Sapphire Rapids", Level::amx},
                                        {kIntel, 6, 207, 207, 0, 15, "Emerald Rapids", Level::amx},
                                        {kIntel, 6, 173, 174, 0, 15, "Granite Rapids", Level::amx},
                                        {kAmd, 23, 0x00, 0x2f, 0, 15, "Zen", Level::avx2},
                                        {kAmd, 23, 0x30, 0x4f, 0, 15, "Zen 2", Level::avx2},
                                        {kAmd, 23, 0x50, 0x5f, 0, 15, "Zen", Level::avx2},
                                        {kAmd, 23, 0x60, 0xaf, 0, 15, "Zen 2", Level::avx2},
                                        {kAmd, 25, 0x00, 0x0f, 0, 15, "Zen 3", Level::avx2},
                                        {kAmd, 25, 0x10, 0x1f, 0, 15, "Zen 4", Level::bf16},
                                        {kAmd, 25, 0x20, 0x5f, 0, 15, "Zen 3", Level::avx2},
                                        {kAmd, 25, 0x60, 0xaf, 0, 15, "Zen 4", Level::bf16},
                                        {kAmd, 26, 0x00, 0x2f, 0, 15, "Zen 5", Level::bf16},
                                        {kAmd, 26, 0x40, 0x4f, 0, 15, "Zen 5", Level::bf16},
                                        {kAmd, 26, 0x60, 0x7f, 0, 15, "Zen 5", Level::bf16}}};

// Returns the first value of a key such as "cpu family"; empty if there is none.
std::string value_of(const std::string& cpuinfo, std::string_view key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(0, colon);
    if (name.substr(0, name.find_last_not_of(" \t") + 1) != key) continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

int number_of(const std::string& cpuinfo, std::string_view key) {
  return parse_number<int>(value_of(cpuinfo, key)).value_or(-1);
}

}  // namespace

std::optional<CpuKind> find_cpu_kind(const std::string& cpuinfo) {
  const std::string vendor = value_of(cpuinfo, "vendor_id");
  const int family = number_of(cpuinfo, "cpu family");
  const int model = number_of(cpuinfo, "model");
  const int stepping = number_of(cpuinfo, "stepping");
  const auto* const row = std::ranges::find_if(kRows, [&](const Row& one) {
    return one.vendor == vendor && one.family == family && one.first_model <= model && model <= one.last_model &&
           one.first_stepping <= stepping && stepping <= one.last_stepping;
  });
  if (row == kRows.end()) return std::nullopt;
  return CpuKind{.name = std::string(row->name),
                 .avx512 = row->level >= Level::avx512,
                 .avx512_bf16 = row->level >= Level::bf16,
                 .amx = row->level >= Level::amx};
}

std::vector<std::string> unused_instruction_sets(const CpuKind& kind, const X86Features& offered,
                                                 const CpuFeatures& used, bool virtual_machine) {
  const CpuFeatures most = features_below(offered, "avx512");
  std::vector<std::string> unused;
  const auto add = [&](const std::string& name, bool is_used, bool is_offered) {
    if (is_used) return;
    const char* const reason = is_offered          ? "CHEXBENCH_ISA rules it out"
                               : !offered.compiled ? "this build has no kernels for it"
                               : virtual_machine   ? "the hypervisor hides it"
                                                   : "the kernel or the firmware has switched it off";
    unused.push_back(name + " (" + reason + ")");
  };
  add("AVX2", used.avx2 && used.fma, most.avx2 && most.fma);
  if (kind.avx512) add("AVX-512", used.avx512, most.avx512);
  if (kind.avx512_bf16) add("AVX512_BF16", used.avx512_bf16, most.avx512_bf16);
  if (kind.amx) add("AMX", used.amx_bf16, most.amx_bf16);
  return unused;
}

namespace {

std::vector<int> read_cpu_list(const std::string& path) { return parse_cpu_list(read_line(path).value_or("")); }

std::vector<std::vector<int>> numa_nodes(const std::string& folder) {
  std::vector<std::vector<int>> nodes;
  for (const int node : read_cpu_list(folder + "/online")) {
    std::vector<int> cpus = read_cpu_list(folder + "/node" + std::to_string(node) + "/cpulist");
    if (!cpus.empty()) nodes.push_back(std::move(cpus));
  }
  return nodes;
}

std::optional<double> load_average(const std::string& path) {
  std::istringstream words(read_line(path).value_or(""));
  double load = 0;
  return words >> load ? std::optional(load) : std::nullopt;
}

std::string turbo_word(const std::string& cpus) {
  if (const auto is_off = read_number(cpus + "/intel_pstate/no_turbo")) return *is_off == 0 ? "on" : "off";
  const auto is_on = read_number(cpus + "/cpufreq/boost");  // of the other drivers
  if (!is_on) return "";
  return *is_on == 0 ? "off" : "on";
}

std::string mitigations_word(const std::string& folder) {
  const std::vector<std::string> flaws = names_in(folder);
  std::string open;
  for (const std::string& flaw : flaws) {
    const bool is_open = read_line(fmt::format("{}/{}", folder, flaw)).value_or("").starts_with("Vulnerable");
    if (is_open) open += (open.empty() ? "off for " : ", ") + flaw;
  }
  return open.empty() && !flaws.empty() ? "on" : open;
}

}  // namespace

CpuLayout probe_cpu_layout(const SystemRoots& roots) {
  CpuLayout layout;
  std::set<long long> sockets;
  std::set<std::pair<long long, long long>> cores;
  const std::string cpus = roots.sys + "/devices/system/cpu";
  for (const int cpu : read_cpu_list(cpus + "/online")) {
    const std::string folder = cpus + "/cpu" + std::to_string(cpu);
    ++layout.hardware_threads;
    const std::optional<long long> socket = read_number(folder + "/topology/physical_package_id");
    const std::optional<long long> core = read_number(folder + "/topology/core_id");
    if (socket) sockets.insert(*socket);
    if (socket && core) cores.emplace(*socket, *core);
    if (const auto governor = read_line(folder + "/cpufreq/scaling_governor")) ++layout.governors[*governor];
  }
  layout.sockets = static_cast<int>(sockets.size());
  layout.physical_cores = static_cast<int>(cores.size());
  layout.numa_nodes = numa_nodes(roots.sys + "/devices/system/node");
  layout.turbo = turbo_word(cpus);
  layout.smt = read_line(cpus + "/smt/control").value_or("");
  layout.mitigations = mitigations_word(cpus + "/vulnerabilities");
  layout.load = load_average(roots.proc + "/loadavg");
  return layout;
}

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
