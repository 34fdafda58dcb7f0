// The line that tells a person at a terminal how far a long job is.
#pragma once

#include <mutex>
#include <string_view>

namespace chexbench {

// True where stderr is a terminal.
bool stderr_is_terminal();

// One line on stderr that replaces itself, and is gone when this is destroyed. Thread-safe.
class StatusLine {
 public:
  // Not shown: show() does nothing. Pass stderr_is_terminal() so that pipes and log files stay clean.
  explicit StatusLine(bool shown) : shown_(shown) {}
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows `text`, unless the last text was shown less than 0.1 s ago. A stderr that takes nothing is no error.
  void show(std::string_view text);

 private:
  const bool shown_;
  std::mutex mutex_;
  double last_shown_s_ = 0;
};

}  // namespace chexbench
