#include "comm/mpi_start.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace chexbench::comm {
namespace {

// Ends this process, and the job with it if the launcher complies. The comm thread is blocked inside MPI.
[[noreturn]] void end_at_signal() {
  ExitCode code = ExitCode::terminated;
  try {
    throw_if_interrupted();
  } catch (const InterruptedError& error) {
    code = error.code();
    let_first_rank_report(std::getenv);
    log::error("{}", error.what());
  }
  abort_by_launcher(std::getenv, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

}  // namespace

StartWatch::StartWatch(StartActions actions, WaitTimes times)
    : thread_([actions = std::move(actions), times](std::stop_token stop) {
        constexpr std::chrono::milliseconds kLook(50);  // a signal handler may not notify a condition variable
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        const double began_s = now_s();
        double next_line_s = times.first_line_s;
        while (!stop.stop_requested()) {
          wake.wait_for(lock, stop, kLook, [] { return interrupt_requested(); });
          if (stop.stop_requested()) return;
          if (interrupt_requested()) return actions.on_signal();
          const double waited_s = now_s() - began_s;
          if (waited_s < next_line_s) continue;
          actions.say(waited_s);
          next_line_s += times.next_line_s;
        }
      }) {}

StartWatch watch_start(const Launcher& launcher) {
  constexpr int kSpeakers = 8;
  const int rank = launched_rank(std::getenv);
  return StartWatch({.say =
                         [launcher, rank](double waited_s) {
                           if (rank < kSpeakers) log::warning("{}", say_ranks_are_missing(launcher, rank, waited_s));
                         },
                     .on_signal = end_at_signal});
}

void check_shared_memory(const Environment& environment, std::string_view library,
                         const measure::SharedMemory& memory) {
  constexpr double kMegabyte = 1e6;
  if (library.find("ch4:ucx") == std::string_view::npos || environment("UCX_TLS") != nullptr) return;
  if (!memory.problem.empty()) {
    throw DeviceError(fmt::format(
        "comm: MPI cannot write to /dev/shm, through which ranks of a host exchange data: {}. Let this user write to "
        "it (chmod 1777), or {}",
        memory.problem, measure::kMoreSharedMemory));
  }
  const std::uint64_t ranks = ranks_of_host(environment);
  const std::uint64_t bytes = measure::shared_bytes_of(ranks);
  if (!memory.exists || memory.free_bytes >= bytes) return;
  throw DeviceError(fmt::format(
      "comm: {} of this host take{} {:.0f} MB of /dev/shm, and {:.1f} of {:.1f} MB are free: {}, remove what "
      "others left there, or start fewer ranks",
      count_text(ranks, "rank"), ranks == 1 ? "s" : "", static_cast<double>(bytes) / kMegabyte,
      static_cast<double>(memory.free_bytes) / kMegabyte, static_cast<double>(memory.total_bytes) / kMegabyte,
      measure::kMoreSharedMemory));
}

std::string short_library_name(std::string_view description) {
  std::istringstream words{std::string(description.substr(0, description.find_first_of(",\n")))};
  std::string name;
  for (std::string word; words >> word;) {
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

}  // namespace chexbench::comm
