// CUDA loads this library if the environment variable CUDA_INJECTION64_PATH names it. Environment variables control
// it:
//   CHEXBENCH_KERNEL_TIME_FILE   file to write when the process ends, as JSON (see README.md in this folder)
//   CHEXBENCH_KERNEL_TIME_STEP   part of the mangled name of a kernel that runs once per step, as its first
//   CHEXBENCH_KERNEL_TIME_SKIP   number of warm-up steps (default 0)
//   CHEXBENCH_CUPTI_LIBRARY      CUPTI's file (default: libcupti.so of the CUDA that this was built with)
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "core/output_file.hpp"
#include "kernel_time/cupti.hpp"
#include "kernel_time/kernel_tally.hpp"
#include "kernel_time/kernel_times_json.hpp"

namespace chexbench::measure {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

class KernelTimer final : public OperationListener {
 public:
  void start() {
    try {
      start_cupti(setting("CHEXBENCH_CUPTI_LIBRARY", CHEXBENCH_CUPTI_FILE).c_str(), *this);
    } catch (const std::exception& error) {
      problem_ = error.what();
    }
  }

  // Never lets an error reach the program under measurement, which must continue as if this library were absent. The
  // file reports the error; stderr does if the file cannot be written.
  void finish() noexcept {
    try {
      if (problem_.empty()) flush_cupti();
    } catch (const std::exception& error) {
      problem_ = error.what();
    }
    try {
      KernelTimes times = tally_.times();
      if (!problem_.empty()) times.problem = problem_;
      write_file_atomically(file_, to_json(times));
    } catch (const std::exception& error) {
      std::cerr << "kernel_time: " << error.what() << "\n";
    }
  }

 private:
  void kernel(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns) override {
    tally_.kernel(name, begin_ns, end_ns);
  }
  void copy(std::uint64_t begin_ns, std::uint64_t end_ns) override { tally_.copy(begin_ns, end_ns); }
  void memset(std::uint64_t begin_ns, std::uint64_t end_ns) override { tally_.memset(begin_ns, end_ns); }
  void lose(std::uint64_t records) override { tally_.lose(records); }

  std::string file_ = setting("CHEXBENCH_KERNEL_TIME_FILE", "kernel-time.json");
  std::string problem_;
  KernelTally tally_{{.step_kernel = setting("CHEXBENCH_KERNEL_TIME_STEP", ""),
                      .skipped_steps = std::strtoull(setting("CHEXBENCH_KERNEL_TIME_SKIP", "0").c_str(), nullptr, 10)}};
};

// The timer is never destroyed, because a thread of CUPTI may deliver records until the process is gone.
KernelTimer* timer = nullptr;

}  // namespace
}  // namespace chexbench::measure

// CUDA calls this function when it is initialized. It returns 1 for success.
extern "C" int InitializeInjection() {
  using chexbench::measure::timer;
  if (timer != nullptr) return 1;
  timer = new chexbench::measure::KernelTimer;
  timer->start();
  // CUPTI and CUDA have registered their exit handlers before this one. Handlers run in reverse order, so this one
  // runs first.
  std::atexit([] { timer->finish(); });
  return 1;
}
