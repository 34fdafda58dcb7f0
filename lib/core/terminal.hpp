// A progress line on a terminal, which shows how far a long job is.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace chexbench {

// Returns whether stderr is a terminal.
bool stderr_is_terminal();

// Returns whether a StatusLine can be shown: stderr is a terminal that can redraw a line, or mpirun forwards it to one.
// A dumb terminal (TERM=dumb) cannot.
bool stderr_shows_status();

// Removes the line that a StatusLine shows at the moment, if one does, and keeps all of them from showing another one
// until the lock is gone: what is written to stderr meanwhile stands on lines of its own. Thread-safe.
[[nodiscard]] std::unique_lock<std::mutex> on_own_line();

// Writes `text` and a line end to stderr, on a line of its own, as StatusLine::show() shows it. Thread-safe.
void write_own_line(std::string_view text);

// A line on stderr that each show() overwrites and the destructor clears. Thread-safe.
class StatusLine {
 public:
  // If `shown` is false, show() does nothing. Pass stderr_shows_status(), so that pipes and log files stay clean.
  explicit StatusLine(bool shown) : shown_(shown) {}
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows `text`, unless the last text was shown less than 0.1 s ago, or 0.5 s if mpirun forwards it. Control
  // characters in it are shown as \xNN, and what exceeds 200 bytes or the width of the terminal is left out. Errors of
  // stderr are ignored.
  void show(std::string_view text);

 private:
  const bool shown_;
  double last_shown_s_ = 0;
};

// Finds the terminal of a person who started this process through a launcher.

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
