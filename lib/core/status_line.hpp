// A progress line on a terminal, which shows how far a long job is.
#pragma once

#include <mutex>
#include <string_view>

namespace chexbench {

// Returns whether stderr is a terminal.
bool stderr_is_terminal();

// A line on stderr that each show() overwrites and the destructor clears. Thread-safe.
class StatusLine {
 public:
  // If `shown` is false, show() does nothing. Pass stderr_is_terminal(), so that pipes and log files stay clean.
  explicit StatusLine(bool shown) : shown_(shown) {}
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows `text`, unless the last text was shown less than 0.1 s ago. Control characters in it are shown as
  // \xNN, and what exceeds 200 bytes is left out. Errors of stderr are ignored.
  void show(std::string_view text);

 private:
  const bool shown_;
  std::mutex mutex_;
  double last_shown_s_ = 0;
};

}  // namespace chexbench
