// Averages gradients of GPUs in host memory: the plain twin of NCCL, and what remains where NCCL is missing.
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

namespace chexbench::comm {

// A thread of its own takes bucket after bucket: waits until it is ready, copies it to the host, averages it in f32
// over `group` as `comm` says, and copies it back. 16-bit gradients are widened before they are added and narrowed
// once, at the end.
class StagedReducer final : public Reducer {
 public:
  StagedReducer(std::unique_ptr<Communicator> group, const spec::CommSpec& comm, std::unique_ptr<DeviceCopies> copies);
  ~StagedReducer() override;  // waits for buckets that are under way

  void reduce(BucketSpan bucket, ReadyEvent ready) override;
  void wait() override;
  void check() override;
  // Of the buckets before the last wait(). A bucket is busy from its ready event until it is back in device memory.
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
  std::vector<float> widened_;  // of the thread
  ReducerTimings last_;         // of the caller's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // the first one is under way
  ReducerTimings current_;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace chexbench::comm
