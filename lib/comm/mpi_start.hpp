// The start of MPI, which blocks until all ranks of the job have joined, ignores signals, and ends the process for lack
// of memory; and the name of its library.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "comm/launcher.hpp"
#include "comm/wait_watch.hpp"
#include "measure/memory_state.hpp"

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

// Checks that enough shared memory is available for MPI. Does nothing unless `library`, as MPI_Get_library_version
// describes it, is MPICH over UCX, or if UCX's transports were chosen by the user. Ranks take this memory only once all
// of them are in MPI_Init, so before that, each rank may count for all of its host.
// @throws DeviceError if `memory` cannot be written to, or too little of it is free for the ranks of this host
void check_shared_memory(const Environment& environment, std::string_view library, const measure::SharedMemory& memory);

// Shortens what an MPI library calls itself to a name and a version for reports: "MPICH Version:\t4.0.2\nMPICH Release
// date:..." becomes "MPICH 4.0.2", and "Open MPI v4.1.4, package: ..." becomes "Open MPI v4.1.4".
std::string short_library_name(std::string_view description);

}  // namespace chexbench::comm
