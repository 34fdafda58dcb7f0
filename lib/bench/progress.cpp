#include "bench/progress.hpp"

#include <fmt/format.h>

namespace chexbench::bench {

void Progress::begin(std::size_t number, std::size_t total, const std::string& trial, int repeat, int repeats) {
  what_ = fmt::format("[{}/{}] {}: repeat {} of {}", number, total, trial, repeat + 1, repeats);
}

void Progress::step(std::int64_t step, std::int64_t total_steps) {
  line_.show(fmt::format("{}, step {} of {}", what_, step + 1, total_steps));
}

}  // namespace chexbench::bench
