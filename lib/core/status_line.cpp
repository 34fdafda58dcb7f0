#include "core/status_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/clock.hpp"
#include "core/printable.hpp"

namespace chexbench {
namespace {

constexpr double kShowEvery_s = 0.1;
constexpr const char* kClearLine = "\r\033[K";

}  // namespace

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

StatusLine::~StatusLine() {
  if (last_shown_s_ == 0) return;
  std::fputs(kClearLine, stderr);
  std::fflush(stderr);
}

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  if (now_s() - last_shown_s_ < kShowEvery_s) return;
  last_shown_s_ = now_s();
  // fmt::print would throw if stderr cannot be written, which must not end a run; fputs does not.
  std::fputs(fmt::format("{}{}", kClearLine, printable(text)).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace chexbench
