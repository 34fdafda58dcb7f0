#include "bench/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "core/clock.hpp"

namespace chexbench::bench {
namespace {

constexpr double kShowEvery_s = 0.1;

}  // namespace

void Progress::begin(std::size_t number, std::size_t total, const std::string& trial, int repeat, int repeats) {
  what_ = fmt::format("[{}/{}] {}: repeat {} of {}", number, total, trial, repeat + 1, repeats);
  last_shown_s_ = 0;
}

void Progress::step(int step, int total_steps) {
  if (!shown_ || now_s() - last_shown_s_ < kShowEvery_s) return;
  last_shown_s_ = now_s();
  fmt::print(stderr, "\r\033[K{}, step {} of {}", what_, step + 1, total_steps);
  std::fflush(stderr);
}

void Progress::clear() {
  if (!shown_ || last_shown_s_ == 0) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace chexbench::bench
