// The loop of a thread that works ahead of its op's consumer.
#pragma once

#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include "pipeline/bounded_queue.hpp"
#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// Fills the queue until take() returns std::nullopt or `stop` is requested, and closes it: with the error if take()
// throws one. Calls take() only when the queue has room, and books the waits for room to `op`.
template <typename T, typename Take>
void fill_ahead(Op& op, BoundedQueue<T>& queue, const std::stop_token& stop, const Take& take) {
  const auto wait_for_room = [&] {
    const TimeScope wait(op.stats(), TimeScope::Book::blocked_output);
    return queue.wait_for_room(stop);
  };
  try {
    while (wait_for_room()) {
      std::optional<T> element = take();
      if (!element) break;
      queue.push(std::move(*element));
    }
    queue.close();
  } catch (...) {
    queue.close(std::current_exception());
  }
}

}  // namespace chexbench::pipeline
