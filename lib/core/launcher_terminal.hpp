// Finds the terminal of a person who started this process through a launcher.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace chexbench {

// Returns what opens the stream (STDOUT_FILENO or STDERR_FILENO) of the mpirun that forwards this process's stream, a
// file like /proc/123/fd/2, or std::nullopt if nobody does or if it is not known to reach it unchanged. That is known
// of hydra, which is mpirun of MPICH and of Intel MPI, on its own host: the stream of a rank is a pipe that
// hydra_pmi_proxy reads, an ancestor of the rank and a child of mpirun. A pipe of somebody else (`2>&1 | tee log`
// within the job) and options of mpirun that put output into files or other words before it give std::nullopt. `proc`
// is /proc, or a folder of a test in which the process is `process`.
std::optional<std::string> launchers_stream(int stream, const std::string& proc = "/proc",
                                            const std::string& process = "self");

// Opens the terminal to which mpirun forwards the stream, to be asked for its width; returns -1 if there is none.
int open_launchers_terminal(int stream);

// Returns how many characters a line of a terminal has; nothing if `file` is none, or if it does not tell.
std::optional<std::size_t> terminal_width(int file);

}  // namespace chexbench
