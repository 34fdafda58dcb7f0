#include "bench/interrupt_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/interrupt.hpp"

namespace chexbench::bench {

InterruptWatch::InterruptWatch(pipeline::Pipeline& pipeline)
    : thread_([&pipeline](std::stop_token stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          // A signal handler may not notify a condition variable, hence the polling; 20 Hz costs nothing.
          wake.wait_for(lock, stop, std::chrono::milliseconds(50), [] { return interrupt_requested(); });
          if (interrupt_requested()) {
            pipeline.stop();
            return;
          }
        }
      }) {}

}  // namespace chexbench::bench
