#include "pipeline/pause.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace chexbench::pipeline {

void pause(double seconds, const std::stop_token& stop) {
  if (seconds <= 0) return;
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

}  // namespace chexbench::pipeline
