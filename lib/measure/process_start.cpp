#include "measure/process_start.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/clock.hpp"

namespace chexbench::measure {
namespace {

// The start time is field 22 of /proc/PID/stat (proc(5)). Counting begins after field 2, the command's name, which
// may contain spaces.
constexpr int kFieldsFromNameToStart = 20;

double clock_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

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

}  // namespace chexbench::measure
