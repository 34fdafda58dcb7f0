#include "comm/start_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"

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

}  // namespace chexbench::comm
