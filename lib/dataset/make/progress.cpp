#include "dataset/make/progress.hpp"

#include <fmt/format.h>

#include <utility>

namespace chexbench::dataset {

Progress::Progress(std::string action, std::string unit, std::size_t total)
    : action_(std::move(action)), unit_(std::move(unit)), total_(total), line_(stderr_shows_status()) {}

void Progress::add(std::size_t done) {
  const std::size_t sum = done_.fetch_add(done) + done;
  line_.show(fmt::format("{} {} / {} {}", action_, sum, total_, unit_));
}

}  // namespace chexbench::dataset
