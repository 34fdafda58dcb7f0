#include "pipeline/turnstile.hpp"

namespace chexbench::pipeline {

bool Turnstile::enter(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto may_enter = [this] { return ended_ || (!inside_ && has_room()); };
  if (!may_enter()) {
    const TimeScope wait(stats_, has_room() ? TimeScope::Book::blocked_input : TimeScope::Book::blocked_output);
    changed_.wait(lock, stop, may_enter);
  }
  if (ended_ || stop.stop_requested()) return false;
  inside_ = true;
  return true;
}

void Turnstile::leave(std::size_t taken, bool ended) {
  {
    const std::lock_guard lock(mutex_);
    inside_ = false;
    used_ += taken;
    ended_ = ended_ || ended;
  }
  if (ended) {
    changed_.notify_all();
  } else {
    changed_.notify_one();
  }
}

void Turnstile::release(std::size_t units) {
  {
    const std::lock_guard lock(mutex_);
    used_ -= units;
  }
  changed_.notify_one();
}

}  // namespace chexbench::pipeline
