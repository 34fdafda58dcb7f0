// Averages buckets in device memory with NCCL. Private to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "comm/nccl/bucket_clock.hpp"
#include "comm/nccl/nccl_comm.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm::nccl {

// reduce() and join() only queue work on the device, so a step that calls them can be captured into a CUDA graph.
// wait() polls every 50 us whether the device is done and the ranks are still there; it must not be called during a
// capture. Used by one thread.
// @throws DeviceError if CUDA or NCCL fails, or if reduce() gets an empty bucket or no ready event
class NcclReducer final : public Reducer {
 public:
  // Works on the current device.
  NcclReducer(std::shared_ptr<NcclComm> comm, int world);

  void reduce(BucketSpan bucket, ReadyEvent ready) override;
  void wait() override;
  void join(DeviceStream stream) override;
  bool capturable() const override { return true; }
  void check() override { comm_->check(); }
  void give_up(const std::string& reason) override { comm_->give_up(reason); }
  ReducerTimings timings() const override { return clock_.last(); }
  std::vector<BucketTime> take_device_buckets() override { return clock_.take(); }
  int world() const override { return world_; }

 private:
  // Records done_ after the last bucket. Returns false if there was no bucket since the last call.
  bool end_step();

  const std::shared_ptr<NcclComm> comm_;
  const int world_;
  const Stream stream_;
  const Event done_;
  BucketClock clock_;
  bool begun_ = false;
};

}  // namespace chexbench::comm::nccl
