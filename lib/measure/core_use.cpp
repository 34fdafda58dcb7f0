#include "measure/core_use.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/numbers.hpp"
#include "measure/cgroup_limits.hpp"

namespace chexbench::measure {
namespace {

// Returns the number of a core from "cpu12", or std::nullopt for "cpu" and other words.
std::optional<int> core_number(const std::string& word) {
  if (!word.starts_with("cpu") || word.size() == 3) return std::nullopt;
  return parse_number<int>(word.substr(3));
}

// Returns the microseconds of "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" as seconds; 0 without such a line.
double memory_stall_s(const SystemRoots& roots) {
  const std::string line = read_line(roots.proc + "/pressure/memory").value_or("");
  const std::size_t total = line.find("total=");
  if (!line.starts_with("some") || total == std::string::npos) return 0;
  return 1e-6 * parse_number<double>(line.substr(total + 6)).value_or(0);
}

}  // namespace

std::optional<CoreUse> sample_core_use(std::span<const int> cores, const SystemRoots& roots) {
  std::ifstream file(roots.proc + "/stat");
  if (!file) return std::nullopt;
  const double tick_s = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
  CoreUse use;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    const std::optional<int> core = core_number(name);
    if (!core || std::ranges::find(cores, *core) == cores.end()) continue;
    use.busy_s += tick_s * (user + nice + system + irq + softirq);
    use.steal_s += tick_s * steal;
  }
  use.throttled_s = cgroup_throttled_s(roots);
  use.memory_stall_s = memory_stall_s(roots);
  return use;
}

}  // namespace chexbench::measure
