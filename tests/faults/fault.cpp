#include "fault.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "../kills/preloaded.hpp"

namespace faults {
namespace {

constexpr std::array<std::string_view, 15> kNames = {"open",        "system-open", "read",    "short-read", "write",
                                                     "short-write", "fsync",       "rename",  "close",      "mmap",
                                                     "malloc",      "thread",      "connect", "mpi",        "mpi-poll"};

struct Plan {
  bool active = false;
  Class kind = Class::open;
  long at = 0;
  bool always = false;
  int sync_reason = EIO;
  int log = -1;
};

Plan plan;
std::atomic<long> calls = 0;
std::atomic<bool> in_main = false;
// Set while a failure is written down, whose own calls do not count. The model needs no memory, which malloc() may not.
__attribute__((tls_model("initial-exec"))) thread_local bool busy = false;

const char* text(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

bool is_this_rank() {
  const std::string_view wanted = text("FAULT_RANK", "");
  return wanted.empty() || wanted == text("PMI_RANK", text("OMPI_COMM_WORLD_RANK", "0"));
}

void make_plan() {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text("FAULT_CLASS", "")) plan = {.active = is_this_rank(), .kind = static_cast<Class>(i)};
  }
  plan.at = std::atol(text("FAULT_AT", "0"));
  plan.always = std::string_view(text("FAULT_KIND", "once")) == "always";
  plan.sync_reason = static_cast<int>(std::strtol(text("FAULT_ERRNO", "5"), nullptr, 10));
  plan.log = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, text("FAULT_LOG", "/dev/null"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  std::array<void*, 4> frames{};
  backtrace(frames.data(), frames.size());  // loads its dependencies here, because the first call allocates
}

// By system calls, because write() may be the call that fails.
void write_down(const char* function, long number) {
  std::array<char, 64> line{};
  const int length = std::snprintf(line.data(), line.size(), "%s %ld\n", function, number);
  syscall(SYS_write, plan.log, line.data(), length);
  std::array<void*, 24> frames{};
  const int count = backtrace(frames.data(), frames.size());
  if (number == plan.at) backtrace_symbols_fd(frames.data(), count, plan.log);
}

}  // namespace

bool is_chosen(Class kind) { return plan.active && kind == plan.kind && in_main && !busy; }

bool must_fail(const char* function) {
  const long number = ++calls;
  if (number != plan.at && !(plan.always && number > plan.at)) return false;
  const int reason = errno;
  busy = true;
  write_down(function, number);
  busy = false;
  errno = reason;
  return true;
}

int sync_reason() { return plan.sync_reason; }

}  // namespace faults

namespace {

using Main = int(int, char**, char**);

Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  faults::make_plan();
  faults::in_main = true;
  const int code = real_main(argc, argv, environment);
  faults::in_main = false;
  return code;
}

}  // namespace

extern "C" int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                 void* stack_end) {
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return preloaded::real<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
