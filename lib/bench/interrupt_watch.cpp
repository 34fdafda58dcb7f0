#include "bench/interrupt_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {

InterruptWatch::InterruptWatch(pipeline::Pipeline& pipeline, std::optional<double> stop_at_s)
    : thread_([&pipeline, stop_at_s](std::stop_token stop) {
        const auto must_stop = [&] { return interrupt_requested() || (stop_at_s && now_s() >= *stop_at_s); };
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          // A signal handler may not notify a condition variable, hence the polling; 20 Hz costs nothing.
          wake.wait_for(lock, stop, std::chrono::milliseconds(50), must_stop);
          if (must_stop()) {
            pipeline.stop();
            return;
          }
        }
      }) {}

}  // namespace chexbench::bench
