#include "core/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench {
namespace {

// Atomic because other threads read it, and lock-free because a signal handler writes it.
std::atomic<int> pending_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<double> first_signal_s = 0;
static_assert(std::atomic<double>::is_always_lock_free);

// One Ctrl-C reaches a rank twice: from the terminal, and through mpirun. Only a SIGINT later than this is a second
// keystroke.
constexpr double kSameKeystroke_s = 1;

void on_signal(int signal) {
  if (pending_signal == 0) {
    first_signal_s = now_s();
    pending_signal = signal;
  } else if (signal == SIGINT && now_s() - first_signal_s > kSameKeystroke_s) {
    std::_Exit(static_cast<int>(ExitCode::interrupted));
  }
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Batch systems warn with the last three before they kill a job: a limit of CPU time, or `sbatch --signal=USR1@60`.
  for (const int signal : {SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2}) {
    struct sigaction inherited {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  // A file size limit, or a pipe whose reader is gone, then makes write() fail. That is reported like a full disk, and
  // does not kill the process.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested() { return pending_signal != 0; }

void throw_if_interrupted() {
  if (pending_signal == SIGINT) throw InterruptedError(ExitCode::interrupted);
  if (interrupt_requested()) throw InterruptedError(ExitCode::terminated);
}

}  // namespace chexbench
