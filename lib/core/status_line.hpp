// A progress line on a terminal, which shows how far a long job is.
#pragma once

#include <mutex>
#include <string_view>

namespace chexbench {

// Returns whether stderr is a terminal.
bool stderr_is_terminal();

// Returns whether a StatusLine can be shown: stderr is a terminal that can redraw a line, or mpirun forwards it to one
// (launcher_terminal.hpp). A dumb terminal (TERM=dumb) cannot.
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

}  // namespace chexbench
