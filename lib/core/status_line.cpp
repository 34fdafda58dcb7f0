#include "core/status_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/clock.hpp"
#include "core/launcher_terminal.hpp"
#include "core/printable.hpp"

namespace chexbench {
namespace {

constexpr double kShowEvery_s = 0.1;
constexpr double kForwardEvery_s = 0.5;  // each time wakes two processes of mpirun
// Before other text may follow on standard output, which mpirun reads from another pipe.
constexpr double kForwarded_s = 0.05;
constexpr const char* kClearLine = "\r\033[K";
constexpr std::size_t kMostBytes = 200;

// All status lines of the process are the same line of the same terminal.
std::mutex stderr_mutex;
bool line_is_shown = false;

// fmt::print would throw if stderr cannot be written, which must not end a run; fputs does not.
void put_on_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

bool is_dumb() {
  const char* const kind = std::getenv("TERM");
  return kind != nullptr && std::string_view(kind) == "dumb";
}

int open_forwarding_terminal() {
  return isatty(STDERR_FILENO) == 1 || is_dumb() ? -1 : open_launchers_terminal(STDERR_FILENO);
}

int forwarding_terminal() {
  static const int file = open_forwarding_terminal();
  return file;
}

bool is_forwarded() { return forwarding_terminal() >= 0; }

// Of the ranks whose stderr is forwarded, another one may show a line.
void clear_line() {
  if (line_is_shown || is_forwarded()) put_on_stderr(kClearLine);
  line_is_shown = false;
}

// Returns the bytes that fit into one line of the terminal: clearing a line that is wrapped would leave a part of it.
std::size_t most_bytes() {
  const auto width = terminal_width(is_forwarded() ? forwarding_terminal() : STDERR_FILENO);
  if (!width) return kMostBytes;
  constexpr std::size_t kDots = 3;  // behind a text that is cut
  return std::min(kMostBytes, std::max(*width, kDots + 2) - kDots - 1);
}

}  // namespace

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

bool stderr_shows_status() { return (stderr_is_terminal() && !is_dumb()) || is_forwarded(); }

std::unique_lock<std::mutex> on_own_line() {
  std::unique_lock lock(stderr_mutex);
  clear_line();
  return lock;
}

void write_own_line(std::string_view text) {
  const auto lock = on_own_line();
  put_on_stderr(printable(text, kMostBytes) + '\n');
}

StatusLine::~StatusLine() {
  if (last_shown_s_ == 0) return;
  on_own_line().unlock();
  if (is_forwarded()) sleep_until_s(now_s() + kForwarded_s);
}

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  const std::lock_guard lock(stderr_mutex);
  if (now_s() - last_shown_s_ < (is_forwarded() ? kForwardEvery_s : kShowEvery_s)) return;
  last_shown_s_ = now_s();
  put_on_stderr(fmt::format("{}{}", kClearLine, printable(text, most_bytes())));
  line_is_shown = true;
}

}  // namespace chexbench
