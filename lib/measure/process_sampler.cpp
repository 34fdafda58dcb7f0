#include "measure/process_sampler.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "core/kernel_file.hpp"
#include "core/numbers.hpp"

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

double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double process_cpu_wait_s() {
  // libstdc++'s directory_iterator ends the process where it gets no memory to go on.
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

}  // namespace chexbench::measure
