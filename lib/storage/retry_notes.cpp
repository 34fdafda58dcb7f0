#include "storage/retry_notes.hpp"

#include <fmt/format.h>

#include "core/log.hpp"

namespace chexbench::storage {
namespace {

constexpr double kPauseS = 10;  // between two warnings

}  // namespace

RetryNotes::~RetryNotes() {
  if (untold_ > 0) log::warning("{}: {} more retries or long waits since the last warning", place_, untold_);
}

void RetryNotes::tell_retry(std::string_view path, std::string_view reason, int next_try, int tries, double now_s) {
  tell(fmt::format("{}: {}; try {} of {} follows", path, reason, next_try, tries), now_s);
}

void RetryNotes::tell_wait(std::string_view path, double waited_s, double now_s) {
  tell(fmt::format("{}: the request has been waiting for {:.0f} s", path, waited_s), now_s);
}

void RetryNotes::tell(const std::string& trouble, double now_s) {
  const std::scoped_lock lock(mutex_);
  if (now_s < next_s_) {
    log::debug("{}", trouble);
    ++untold_;
    return;
  }
  log::warning("{}{}", trouble, untold_ == 0 ? "" : fmt::format(" ({} more since the last warning)", untold_));
  next_s_ = now_s + kPauseS;
  untold_ = 0;
}

}  // namespace chexbench::storage
