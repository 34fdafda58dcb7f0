// How a group of ranks averages gradients in device memory: with NCCL, or in host memory over MPI.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/device_copies.hpp"
#include "comm/nccl/nccl.hpp"

namespace chexbench::comm {

// Every communicator has one of these. It makes NCCL's communicator of all ranks at the first call that needs it, and
// keeps it. Used by one thread.
class DeviceReducers {
 public:
  // Implements Communicator::make_device_reducer() for `group`, which must be the same in every call. Throws as it
  // does.
  std::unique_ptr<Reducer> make(Communicator& group, int ranks, const DeviceReducerConfig& config);

 private:
  NcclWorld& nccl_world(Communicator& group, int gpu);

  std::unique_ptr<NcclWorld> nccl_world_;
};

// Averages in host memory: the plain counterpart of NCCL, and the fallback if NCCL is missing. A thread processes one
// bucket after the other: it waits until the bucket is ready, copies it to the host, averages it in f32 over `group`
// according to `comm`, and copies it back. 16-bit gradients are widened before they are added and narrowed once at the
// end. Used by one thread, like every Reducer. After an error the remaining buckets are dropped.
// @throws DeviceError from reduce() for an empty bucket or one without a ready event; from wait() and check() if a
// copy failed or another rank was lost
// @throws InterruptedError from wait() and check() if a signal ended the averaging
class StagedReducer final : public Reducer {
 public:
  // @throws SpecError if `comm` asks for more servers than `group` has ranks
  StagedReducer(std::unique_ptr<Communicator> group, const spec::CommSpec& comm, std::unique_ptr<DeviceCopies> copies);
  ~StagedReducer() override;  // waits for buckets that are under way

  void reduce(BucketSpan bucket, ReadyEvent ready) override;
  void wait() override;
  void check() override;
  // Returns the timings of the buckets before the last wait(). A bucket counts as busy from its ready event until it
  // is back in device memory.
  ReducerTimings timings() const override { return last_; }
  int world() const override { return world_; }

 private:
  struct Job {
    BucketSpan bucket;
    ReadyEvent ready;
  };
  void work();
  ReducerTimings process(const Job& job);
  void average(std::span<std::byte> host, const BucketSpan& bucket);
  void average(std::span<float> values);
  template <typename T>
  void average_widened(std::span<T> values);

  const std::unique_ptr<Communicator> group_;  // outlives host_
  const std::unique_ptr<DeviceCopies> copies_;
  const std::unique_ptr<Reducer> host_;
  const int world_;
  std::vector<float> widened_;  // used by thread_ only
  ReducerTimings last_;         // used by the caller's thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // the first one is under way
  ReducerTimings current_;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace chexbench::comm
