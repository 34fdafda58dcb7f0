// A Reducer that hands its buckets to the comm thread.
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

// Makes the operation that replaces `values` by their mean over ranks. The span stays valid until it is complete.
using MakeAverage = std::function<Poll(std::span<float> values)>;

class BackgroundReducer final : public Reducer {
 public:
  // Buckets are averaged one after the other, in `lane` of `thread`, which must outlive this. `value_bytes` are those
  // of a gradient between ranks.
  BackgroundReducer(CommThread& thread, const void* lane, int world, MakeAverage make_average,
                    std::size_t value_bytes = sizeof(float));
  ~BackgroundReducer() override;  // waits for buckets that are under way

  void reduce(BucketSpan bucket, ReadyEvent ready) override;
  void wait() override;
  // Of the buckets before the last wait(). A bucket is busy from its begin on, also while another rank is late.
  ReducerTimings timings() const override { return last_; }
  int world() const override { return world_; }

 private:
  void complete(double begin_s, std::size_t bytes, const std::exception_ptr& error);

  CommThread& thread_;
  const void* const lane_;
  const int world_;
  const MakeAverage make_average_;
  const std::size_t value_bytes_;
  ReducerTimings last_;  // of the caller's thread

  std::mutex mutex_;
  std::condition_variable completed_;
  int pending_ = 0;
  ReducerTimings current_;
  std::exception_ptr error_;
};

}  // namespace chexbench::comm
