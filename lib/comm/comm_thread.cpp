#include "comm/comm_thread.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <iterator>
#include <memory>
#include <utility>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace chexbench::comm {
namespace {

constexpr double kEagerS = 1e-3;  // see README.md for the measurements
constexpr double kShortestNapS = 20e-6;
constexpr double kNapShare = 0.05;

std::atomic<bool> is_frozen = false;    // set by the signal handler of freeze()
constexpr double kMostFreezingS = 0.5;  // a thread that has ended gets no signal

// Polls an operation. An exception ends it and is stored in `error`.
Progress poll_once(Operation& operation, std::exception_ptr& error) {
  try {
    if (operation.on_signal == OnSignal::end) throw_if_interrupted();
    return operation.poll();
  } catch (...) {
    error = std::current_exception();
    return Progress::done;
  }
}

// Polls all operations and removes the complete ones. Returns whether something moved.
bool poll_all(std::vector<Operation>& active) {
  bool moved = false;
  for (auto next = active.begin(); next != active.end();) {
    std::exception_ptr error;
    const Progress progress = poll_once(*next, error);
    moved |= progress != Progress::waiting;
    if (progress == Progress::done) {
      const Operation complete = std::move(*next);
      next = active.erase(next);  // before done(), so that it is not called again if it throws
      complete.done(error);
    } else {
      ++next;
    }
  }
  return moved;
}

}  // namespace

double nap_after_s(double idle_s, double longest_nap_s) {
  if (idle_s < kEagerS) return 0;
  return std::max(kShortestNapS, std::min(longest_nap_s, idle_s * kNapShare));
}

CommThread::CommThread() : thread_([this] { work(); }) {}

CommThread::~CommThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CommThread::submit(Operation operation) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) std::rethrow_exception(failed_);
    pending_.push_back(std::move(operation));
  }
  changed_.notify_all();
}

void CommThread::run(Operation operation) {
  // The promise is shared because set_value() may still be working inside it when get() has returned.
  const auto result = std::make_shared<std::promise<void>>();
  std::future<void> complete = result->get_future();
  operation.done = [result](const std::exception_ptr& error) {
    error ? result->set_exception(error) : result->set_value();
  };
  submit(std::move(operation));
  complete.get();
}

void CommThread::run(const void* lane, double longest_nap_s, Poll poll, OnSignal on_signal) {
  run({.lane = lane, .longest_nap_s = longest_nap_s, .poll = std::move(poll), .on_signal = on_signal, .done = {}});
}

void CommThread::run(const void* lane, const std::function<void()>& action) {
  const auto poll = [&action] {
    action();
    return Progress::done;
  };
  run({.lane = lane, .poll = poll, .on_signal = OnSignal::go_on, .done = {}});
}

void CommThread::attend(std::function<double()> duty) {
  run(this, [this, &duty] {
    duty_ = std::move(duty);
    duty_due_s_ = now_s();
  });
}

void CommThread::freeze() {
  struct sigaction stop {};
  stop.sa_handler = [](int) {
    is_frozen = true;
    while (true) ::pause();
  };
  sigaction(SIGRTMIN, &stop, nullptr);
  pthread_kill(thread_.native_handle(), SIGRTMIN);
  const double give_up_s = now_s() + kMostFreezingS;
  while (!is_frozen && now_s() < give_up_s) sched_yield();
}

void CommThread::work() {
  name_this_thread("comm");
  prctl(PR_SET_TIMERSLACK, 1000);  // 1 us: by default Linux adds 50 us to every sleep
  std::vector<Operation> active;
  try {
    poll_until_stopped(active);
  } catch (...) {
    fail(active, std::current_exception());
  }
}

void CommThread::fail(std::vector<Operation>& active, const std::exception_ptr& error) {
  for (const Operation& operation : active) operation.done(error);
  active.clear();
  std::unique_lock lock(mutex_);
  failed_ = error;
  while (!pending_.empty()) {
    const Operation operation = std::move(pending_.front());
    pending_.pop_front();
    lock.unlock();
    operation.done(error);
    lock.lock();
  }
}

void CommThread::poll_until_stopped(std::vector<Operation>& active) {
  double moved_s = now_s();
  while (take(active)) {
    const bool was_idle = active.empty();
    const bool moved = poll_all(active) || was_idle;
    const double time_s = now_s();
    do_duty(time_s);
    if (moved) {
      moved_s = time_s;
    } else {
      nap(active, time_s - moved_s);
    }
  }
}

void CommThread::do_duty(double time_s) {
  if (duty_ && time_s >= duty_due_s_) duty_due_s_ = time_s + duty_();
}

void CommThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] { return stopping_ || !pending_.empty(); };
  if (duty_) {
    changed_.wait_for(lock, std::chrono::duration<double>(std::max(0.0, duty_due_s_ - now_s())), has_work);
  } else {
    changed_.wait(lock, has_work);
  }
}

bool CommThread::take(std::vector<Operation>& active) {
  std::unique_lock lock(mutex_);
  if (active.empty()) wait_for_work(lock);
  if (stopping_) return false;
  std::vector<const void*> busy;
  for (const Operation& operation : active) busy.push_back(operation.lane);
  for (auto next = pending_.begin(); next != pending_.end();) {
    const bool waits = std::ranges::find(busy, next->lane) != busy.end();
    busy.push_back(next->lane);
    if (waits) {
      ++next;
    } else {
      active.push_back(std::move(*next));
      next = pending_.erase(next);
    }
  }
  return true;
}

void CommThread::nap(const std::vector<Operation>& active, double idle_s) {
  const double longest_s = std::ranges::min(active, {}, &Operation::longest_nap_s).longest_nap_s;
  const double nap_s = nap_after_s(idle_s, longest_s);
  if (nap_s == 0) {
    sched_yield();
    return;
  }
  std::unique_lock lock(mutex_);
  const std::size_t known = pending_.size();
  changed_.wait_for(lock, std::chrono::duration<double>(nap_s),
                    [this, known] { return stopping_ || pending_.size() != known; });
}

}  // namespace chexbench::comm
