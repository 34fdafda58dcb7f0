#include "comm/start_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace chexbench::comm {

StartWatch::StartWatch(StartActions actions, WaitTimes times)
    : thread_([actions = std::move(actions), times](std::stop_token stop) {
        constexpr std::chrono::milliseconds kLook(50);  // a signal handler may not notify a condition variable
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        const double began_s = now_s();
        double next_line_s = times.first_line_s;
        while (!stop.stop_requested()) {
          wake.wait_for(lock, stop, kLook, [] { return interrupt_requested(); });
          if (stop.stop_requested()) return;
          if (interrupt_requested()) return actions.on_signal();
          const double waited_s = now_s() - began_s;
          if (waited_s < next_line_s) continue;
          actions.say(waited_s);
          next_line_s += times.next_line_s;
        }
      }) {}

}  // namespace chexbench::comm
