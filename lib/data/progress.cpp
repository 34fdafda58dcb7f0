#include "data/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/clock.hpp"

namespace chexbench::data {
namespace {

constexpr double kInterval_s = 0.1;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string action, std::string unit, std::size_t total)
    : action_(std::move(action)), unit_(std::move(unit)), total_(total), shown_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::add(std::size_t done) {
  const std::scoped_lock lock(mutex_);
  done_ += done;
  const double now = now_s();
  if (!shown_ || (now - last_s_ < kInterval_s && done_ < total_)) return;
  last_s_ = now;
  fmt::print(stderr, "{}{} {} / {} {}", kClearLine, action_, done_, total_, unit_);
  std::fflush(stderr);
}

}  // namespace chexbench::data
