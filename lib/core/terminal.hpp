// A progress line on a terminal, for long jobs.
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

// Removes the current line of a StatusLine, if any, and keeps all of them from showing another until the lock is
// released: text written to stderr meanwhile gets separate lines. Thread-safe.
[[nodiscard]] std::unique_lock<std::mutex> on_own_line();

// Writes `text` and a line end to stderr, on a separate line, in the form of StatusLine::show(). Thread-safe.
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
  // characters in it are shown as \xNN, and anything beyond 200 bytes or the width of the terminal is left out. Errors
  // of stderr are ignored.
  void show(std::string_view text);

 private:
  const bool shown_;
  double last_shown_s_ = 0;
};

// Returns a file like /proc/123/fd/2 that opens the stream (STDOUT_FILENO or STDERR_FILENO) of the mpirun that forwards
// this process's stream, or std::nullopt if there is none, or if the text is not known to reach it unchanged. It is
// known for hydra, the mpirun of MPICH and Intel MPI, on mpirun's host: the stream of a rank is a pipe that
// hydra_pmi_proxy reads, an ancestor of the rank and a child of mpirun. Any other pipe (`2>&1 | tee log` within the
// job) and options of mpirun that redirect output to files or prefix it give std::nullopt. `proc` is /proc, or a test
// folder in which the process is `process`.
std::optional<std::string> launchers_stream(int stream, const std::string& proc = "/proc",
                                            const std::string& process = "self");

// Opens the terminal to which mpirun forwards the stream, to query its width; returns -1 if there is none.
int open_launchers_terminal(int stream);

// Returns the characters per line of a terminal; nothing if `file` is not one, or its width is unknown.
std::optional<std::size_t> terminal_width(int file);

}  // namespace chexbench
