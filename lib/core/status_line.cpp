#include "core/status_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/clock.hpp"
#include "core/printable.hpp"

namespace chexbench {
namespace {

constexpr double kShowEvery_s = 0.1;
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

void clear_line() {
  if (line_is_shown) put_on_stderr(kClearLine);
  line_is_shown = false;
}

// Returns the bytes that fit into one line of the terminal: clearing a line that is wrapped would leave a part of it.
std::size_t most_bytes() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kMostBytes;
  constexpr std::size_t kDots = 3;  // behind a text that is cut
  return std::min(kMostBytes, std::max<std::size_t>(size.ws_col, kDots + 2) - kDots - 1);
}

}  // namespace

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

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
  if (last_shown_s_ != 0) on_own_line().unlock();
}

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  const std::lock_guard lock(stderr_mutex);
  if (now_s() - last_shown_s_ < kShowEvery_s) return;
  last_shown_s_ = now_s();
  put_on_stderr(fmt::format("{}{}", kClearLine, printable(text, most_bytes())));
  line_is_shown = true;
}

}  // namespace chexbench
