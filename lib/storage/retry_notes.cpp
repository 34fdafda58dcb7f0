#include "storage/retry_notes.hpp"

#include <fmt/format.h>

#include "core/log.hpp"

namespace chexbench::storage {
namespace {

constexpr double kPauseS = 10;  // between two warnings

}  // namespace

RetryNotes::~RetryNotes() {
  if (untold_ > 0) log::warning("{}: {} more retries since the last warning", place_, untold_);
}

void RetryNotes::tell_retry(std::string_view path, std::string_view reason, int next_try, int tries, double now_s) {
  const std::string trouble = fmt::format("{}: {}; try {} of {} follows", path, reason, next_try, tries);
  const std::scoped_lock lock(mutex_);
  if (tell(trouble, now_s)) return;
  log::debug("{}", trouble);
  ++untold_;
}

void RetryNotes::tell_wait(std::string_view path, double waited_s, double now_s) {
  const std::scoped_lock lock(mutex_);
  tell(fmt::format("{}: the request has been waiting for {:.0f} s", path, waited_s), now_s);
}

bool RetryNotes::tell(const std::string& trouble, double now_s) {
  if (now_s < next_s_) return false;
  log::warning("{}{}", trouble, untold_ == 0 ? "" : fmt::format(" ({} more retries since the last warning)", untold_));
  next_s_ = now_s + kPauseS;
  untold_ = 0;
  return true;
}

}  // namespace chexbench::storage
