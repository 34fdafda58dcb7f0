#include "measure/process_sampler.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/kernel_file.hpp"
#include "core/numbers.hpp"
#include "measure/cgroup_limits.hpp"

namespace chexbench::measure {
namespace {

// Returns the number after `key` at the beginning of a line, for example key "RssAnon:"; 0 if the key is missing.
std::uint64_t number_after(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') at = text.find(key, at + 1);
  if (at == std::string_view::npos) return 0;
  const std::size_t digit = text.find_first_not_of(" \t", at + key.size());
  if (digit == std::string_view::npos) return 0;
  std::string_view digits = text.substr(digit);
  return take_number<std::uint64_t>(digits).value_or(0);
}

}  // namespace

double process_cpu_s() { return clock_s(CLOCK_PROCESS_CPUTIME_ID); }

double process_cpu_wait_s() {
  // libstdc++'s directory_iterator ends the process if it runs out of memory.
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), &::closedir);
  double sum_s = 0;
  while (const dirent* task = tasks ? ::readdir(tasks.get()) : nullptr) {
    if (task->d_name[0] == '.') continue;
    KernelPage page;  // a thread may end while its folder is read; then it stays empty
    const std::string path = fmt::format("/proc/self/task/{}/schedstat", task->d_name);
    const std::string_view text = read_kernel_file(path.c_str(), page);
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) continue;
    std::string_view wait_ns = text.substr(blank + 1);
    sum_s += 1e-9 * static_cast<double>(take_number<std::uint64_t>(wait_ns).value_or(0));
  }
  return sum_s;
}

ProcessSample sample_process() {
  constexpr std::uint64_t kKibibyte = 1024;
  KernelPage page;
  ProcessSample sample;
  const std::string_view status = read_kernel_file("/proc/self/status", page);
  sample.anonymous_rss_bytes = number_after(status, "RssAnon:") * kKibibyte;
  sample.peak_rss_bytes = number_after(status, "VmHWM:") * kKibibyte;
  sample.storage_read_bytes = number_after(read_kernel_file("/proc/self/io", page), "read_bytes:");
  sample.cpu_s = process_cpu_s();
  return sample;
}

bool reset_peak_rss() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, "5", 1) == 1;
  close(file);
  return done;
}

namespace {

// The start time is field 22 of /proc/PID/stat (proc(5)). Counting begins after field 2, the command's name, which
// may contain spaces.
constexpr int kFieldsFromNameToStart = 20;

}  // namespace

double start_since_boot_s(const std::string& stat) {
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int i = 1; i < kFieldsFromNameToStart; ++i) fields >> skipped;
  double start_ticks = 0;
  if (!(fields >> start_ticks)) return std::numeric_limits<double>::quiet_NaN();
  return start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double process_start_s() {
  std::ifstream file("/proc/self/stat");
  std::string stat;
  std::getline(file, stat);
  // The kernel counts the start on the boot clock, which continues during suspend; now_s() does not.
  return now_s() - (clock_s(CLOCK_BOOTTIME) - start_since_boot_s(stat));
}

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
