// Watches the start of MPI, which blocks until all ranks of the job have joined, and ignores signals.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "comm/launcher.hpp"
#include "comm/wait_watch.hpp"

namespace chexbench::comm {

// Callbacks while MPI starts. Both are called on a thread that makes no MPI calls.
struct StartActions {
  std::function<void(double waited_s)> say;  // at the times of WaitTimes
  std::function<void()> on_signal;           // once, after a signal; nothing is called after it
};

// Watches from construction to destruction.
class StartWatch {
 public:
  explicit StartWatch(StartActions actions, WaitTimes times = {});

 private:
  std::jthread thread_;
};

// Returns a watch for this rank of the launcher. A missing rank cannot be asked, so waiting ranks report, but only the
// first few of many. A signal ends the process, and with it the job.
StartWatch watch_start(const Launcher& launcher);

}  // namespace chexbench::comm
