// Drives the parts that ops are made of at random and compares them with simple models.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>  // after gtest.h, which it does not include

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <latch>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "pipeline/element.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline::test {
namespace {

enum class QueueStep { push, pop, pop_now, grow, close, fail };

RC_GTEST_PROP(BoundedQueueProperty, IsADequeWithAnEndAndAnErrorBehindIt, ()) {
  auto capacity = *rc::gen::inRange<std::size_t>(1, 6);
  BoundedQueue<std::unique_ptr<int>> queue(capacity);
  std::deque<int> held;
  bool closed = false;
  bool failing = false;
  int pushed = 0;
  const std::stop_token never;
  const auto steps =
      *rc::gen::container<std::vector<QueueStep>>(rc::gen::weightedElement<QueueStep>({{12, QueueStep::push},
                                                                                       {8, QueueStep::pop},
                                                                                       {4, QueueStep::pop_now},
                                                                                       {1, QueueStep::grow},
                                                                                       {1, QueueStep::close},
                                                                                       {1, QueueStep::fail}}));
  for (const QueueStep step : steps) {
    const bool would_wait = held.empty() && !closed;
    if (step == QueueStep::push && !closed && held.size() < capacity) {
      RC_ASSERT(queue.wait_for_room(never));
      queue.push(std::make_unique<int>(pushed));
      held.push_back(pushed++);
    } else if (step == QueueStep::pop && held.empty() && failing) {
      RC_ASSERT_THROWS_AS(queue.pop(never), std::runtime_error);
      failing = false;
    } else if ((step == QueueStep::pop && !would_wait) || step == QueueStep::pop_now) {
      const auto popped = step == QueueStep::pop ? queue.pop(never) : queue.pop_now();
      RC_ASSERT(popped.has_value() == !held.empty());
      if (popped) {
        RC_ASSERT(**popped == held.front());
        held.pop_front();
      }
    } else if (step == QueueStep::grow) {
      const auto to = *rc::gen::inRange<std::size_t>(1, 10);
      queue.grow(to);
      capacity = std::max(capacity, to);
    } else if ((step == QueueStep::close || step == QueueStep::fail) && !closed) {
      closed = true;
      failing = step == QueueStep::fail;
      queue.close(failing ? std::make_exception_ptr(std::runtime_error("damaged")) : nullptr);
    }
    RC_ASSERT(queue.size() == held.size());
    RC_ASSERT(queue.capacity() == capacity);
    RC_ASSERT(queue.ready() == (closed || !held.empty()));
  }
}

RC_GTEST_PROP(BoundedQueueProperty, PassesEverythingOnInOrderBetweenTwoThreads, ()) {
  const auto count = *rc::gen::inRange(0, 500);
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 6);
  BoundedQueue<int> queue(capacity, *rc::gen::element(Refill::at_once, Refill::at_half));
  const std::stop_token never;
  std::size_t most = 0;
  std::jthread producer([&] {
    for (int i = 0; i < count && queue.wait_for_room(never); ++i) {
      queue.push(i);
      most = std::max(most, queue.size());
    }
    queue.close();
  });
  int expected = 0;
  bool in_order = true;
  while (const std::optional<int> element = queue.pop(never)) in_order = in_order && *element == expected++;
  producer.join();
  RC_ASSERT(in_order);
  RC_ASSERT(expected == count);
  RC_ASSERT(most <= capacity);
}

// A turnstile that is driven by calls which its contract allows, and a model of its state.
class DrivenTurnstile {
 public:
  explicit DrivenTurnstile(std::size_t capacity) : capacity_(capacity), turnstile_(capacity, stats_) {}

  void enter() {
    if (ended_) {
      RC_ASSERT(!turnstile_.enter(never_));
    } else if (may_enter()) {
      RC_ASSERT(turnstile_.enter(never_));
      inside_ = true;
    } else {
      enter_late();
    }
  }
  void leave(bool ended) {
    if (!inside_) return;
    const auto taken = *rc::gen::inRange<std::size_t>(0, 4);
    inside_ = false;
    used_ += taken;
    ended_ = ended;
    way_is_free_ = may_enter();
    turnstile_.leave(taken, ended);
  }
  void release() {
    if (used_ == 0) return;
    const auto units = *rc::gen::inRange<std::size_t>(1, used_ + 1);
    used_ -= units;
    way_is_free_ = may_enter();
    turnstile_.release(units);
  }

 private:
  bool may_enter() const { return !inside_ && used_ < capacity_; }

  // A worker enters that has to wait until the others have made room.
  void enter_late() {
    way_is_free_ = false;
    bool entered = false;
    bool came_too_early = false;
    std::latch comes(1);
    std::jthread worker([&] {
      comes.count_down();
      entered = turnstile_.enter(never_);
      came_too_early = !way_is_free_;
    });
    comes.wait();
    while (!may_enter()) {
      std::this_thread::yield();
      if (inside_) {
        leave(false);
      } else {
        release();
      }
    }
    worker.join();
    RC_ASSERT(entered);
    RC_ASSERT(!came_too_early);
    inside_ = true;
  }

  const std::size_t capacity_;
  const std::stop_token never_;
  OpStats stats_;
  Turnstile turnstile_;
  std::size_t used_ = 0;
  bool inside_ = false;
  bool ended_ = false;
  std::atomic<bool> way_is_free_ = false;
};

enum class TurnstileStep { enter, leave, end, release };

RC_GTEST_PROP(TurnstileProperty, OpensForOneAtATimeWhileThereIsRoomAndForNoneBehindTheEnd, ()) {
  DrivenTurnstile turnstile(*rc::gen::inRange<std::size_t>(1, 5));
  const auto steps = *rc::gen::container<std::vector<TurnstileStep>>(rc::gen::weightedElement<TurnstileStep>(
      {{9, TurnstileStep::enter}, {9, TurnstileStep::leave}, {1, TurnstileStep::end}, {3, TurnstileStep::release}}));
  for (const TurnstileStep step : steps) {
    if (step == TurnstileStep::enter) turnstile.enter();
    if (step == TurnstileStep::leave || step == TurnstileStep::end) turnstile.leave(step == TurnstileStep::end);
    if (step == TurnstileStep::release) turnstile.release();
  }
}

RC_GTEST_PROP(ExamplePoolProperty, NeverGivesABlockToTwoNorMakesMoreThanWereOutAtOnce, ()) {
  constexpr std::size_t kBytes = 100;
  const auto pool = std::make_shared<ExamplePool>(kBytes);
  std::vector<std::pair<ExampleMemory, std::byte>> held;
  std::set<const std::byte*> blocks;
  std::size_t most = 0;
  for (const bool acquire : *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>())) {
    if (acquire) {
      ExampleMemory memory = pool->acquire();
      const auto mark = static_cast<std::byte>(blocks.size() * 31 + held.size());
      std::fill_n(memory.get(), kBytes, mark);
      blocks.insert(memory.get());
      held.emplace_back(std::move(memory), mark);
      most = std::max(most, held.size());
    } else if (!held.empty()) {
      held.erase(held.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(held)));
    }
    for (const auto& [memory, mark] : held) RC_ASSERT(std::count(memory.get(), memory.get() + kBytes, mark) == kBytes);
  }
  RC_ASSERT(blocks.size() == most);
}

// Opens a scope with others inside it, whose ops and books are drawn at random.
void open_scopes(RandomStream& random, std::span<OpStats> stats, int depth, int& opened) {
  constexpr std::array kBooks = {TimeScope::Book::busy, TimeScope::Book::blocked_input,
                                 TimeScope::Book::blocked_output};
  const TimeScope scope(stats[random.below(stats.size())], kBooks[random.below(kBooks.size())]);
  ++opened;
  for (auto inner = random.below(4); inner > 0 && depth < 5; --inner) open_scopes(random, stats, depth + 1, opened);
}

RC_GTEST_PROP(TimeScopeProperty, BooksEveryMomentOnceHoweverScopesNest, ()) {
  RandomStream random(*rc::gen::arbitrary<std::uint64_t>());
  std::array<OpStats, 3> stats;
  int opened = 1;
  const double before_s = now_s();
  double inside_s = 0;
  {
    const TimeScope outermost(stats[0], TimeScope::Book::busy);
    const double begun_s = now_s();
    open_scopes(random, stats, 0, opened);
    inside_s = now_s() - begun_s;
  }
  const double outside_s = now_s() - before_s;
  double booked_s = 0;
  for (const OpStats& one : stats) {
    booked_s += one.busy_wall.seconds() + one.blocked_input.seconds() + one.blocked_output.seconds();
  }
  const double rounding_s = 2e-9 * opened;  // each scope splits the one around it in two
  RC_ASSERT(booked_s <= outside_s + rounding_s);
  RC_ASSERT(booked_s >= inside_s - rounding_s);
}

}  // namespace
}  // namespace chexbench::pipeline::test
