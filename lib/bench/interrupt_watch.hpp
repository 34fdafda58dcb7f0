// Stops a pipeline after SIGINT or SIGTERM, or at a set time, so that a loop that is blocked in next() wakes up.
#pragma once

#include <optional>
#include <stop_token>
#include <thread>

#include "pipeline/pipeline.hpp"

namespace chexbench::bench {

// Watches from construction to destruction, on a thread of its own. The pipeline must outlive it.
class InterruptWatch {
 public:
  explicit InterruptWatch(pipeline::Pipeline& pipeline, std::optional<double> stop_at_s = {});

 private:
  std::jthread thread_;
};

}  // namespace chexbench::bench
