#include "core/interrupt.hpp"

#include <csignal>
#include <cstdlib>

#include "core/errors.hpp"

namespace chexbench {
namespace {

volatile std::sig_atomic_t pending_signal = 0;

void on_signal(int signal) {
  if (pending_signal == SIGINT && signal == SIGINT) std::_Exit(static_cast<int>(ExitCode::interrupted));
  pending_signal = signal;
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A limit on file sizes is then an error of write(), reported as a full disk is, and not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupt_requested() { return pending_signal != 0; }

void throw_if_interrupted() {
  if (pending_signal == SIGINT) throw InterruptedError(ExitCode::interrupted);
  if (pending_signal == SIGTERM) throw InterruptedError(ExitCode::terminated);
}

}  // namespace chexbench
