// A Reducer that averages buckets in host memory on the comm thread while the caller computes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>

#include "comm/comm_thread.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm {

// Returns the operation that replaces `values` by their mean over ranks. The span stays valid until it is complete.
using MakeAverage = std::function<Poll(std::span<float> values)>;

// Accepts f32 buckets in host memory only. Like every Reducer, it is used by one thread. wait() returns after the
// last bucket has ended, even if one of them failed.
// @throws DeviceError from reduce() for an empty bucket or one in device memory; from wait() if another rank was lost
// @throws InterruptedError from wait() and meet() if a signal ended the averaging
class BackgroundReducer final : public Reducer {
 public:
  // Averages one bucket after the other in the lane `lane` of `thread`, which must outlive this object. `value_bytes`
  // is the size of one gradient value on the way between ranks.
  BackgroundReducer(CommThread& thread, const void* lane, int world, MakeAverage make_average,
                    std::size_t value_bytes = sizeof(float));
  ~BackgroundReducer() override;  // waits for buckets that are under way

  void reduce(BucketSpan bucket, ReadyEvent ready) override;
  void wait() override;
  void meet() override;  // leaves no trace and counts no bytes: it averages none of the engine's gradients
  // Returns the timings of the buckets before the last wait(). A bucket counts as busy from its start, even while
  // another rank is late.
  ReducerTimings timings() const override { return last_; }
  int world() const override { return world_; }

 private:
  void complete(double begin_s, std::size_t bytes, std::exception_ptr error);

  CommThread& thread_;
  const void* const lane_;
  const int world_;
  const MakeAverage make_average_;
  const std::size_t value_bytes_;
  ReducerTimings last_;  // used by the caller's thread only

  std::mutex mutex_;
  std::condition_variable completed_;
  int pending_ = 0;
  ReducerTimings current_;
  std::exception_ptr error_;
};

}  // namespace chexbench::comm
