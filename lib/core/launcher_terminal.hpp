// Finds the terminal of a person who started this process through a launcher.
#pragma once

#include <optional>
#include <string>

namespace chexbench {

// Returns what opens the standard error of the mpirun that forwards this process's standard error, a file like
// /proc/123/fd/2, or std::nullopt if nobody does or if it is not known to reach it unchanged. That is known of hydra,
// which is mpirun of MPICH and of Intel MPI, on its own host: standard error of a rank is a pipe that hydra_pmi_proxy
// reads, an ancestor of the rank and a child of mpirun. A pipe of somebody else (`2>&1 | tee log` within the job) and
// options of mpirun that put output into files or other words before it give std::nullopt. `proc` is /proc, or a
// folder of a test in which the process is `process`.
std::optional<std::string> launchers_stderr(const std::string& proc = "/proc", const std::string& process = "self");

}  // namespace chexbench
