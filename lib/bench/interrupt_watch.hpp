// Stops a pipeline when a signal came, so that a loop blocked in next() wakes up.
#pragma once

#include <stop_token>
#include <thread>

#include "pipeline/pipeline.hpp"

namespace chexbench::bench {

// Watches from construction to destruction. The pipeline must outlive it.
class InterruptWatch {
 public:
  explicit InterruptWatch(pipeline::Pipeline& pipeline);

 private:
  std::jthread thread_;
};

}  // namespace chexbench::bench
