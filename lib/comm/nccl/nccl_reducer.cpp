#include "comm/nccl/nccl_reducer.hpp"

#include <utility>

#include "comm/arguments.hpp"
#include "core/clock.hpp"

namespace chexbench::comm::nccl {
namespace {

constexpr double kNapS = 50e-6;

// Other ranks wait for the buckets, which are few, so their kernels take precedence over those of backward.
int highest_priority() {
  int lowest = 0, highest = 0;
  nccl::check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
  return highest;
}

}  // namespace

NcclReducer::NcclReducer(std::shared_ptr<NcclComm> comm, int world)
    : comm_(std::move(comm)),
      world_(world),
      stream_(highest_priority()),
      done_(cudaEventDisableTiming),
      clock_(stream_.get()) {}

void NcclReducer::reduce(BucketSpan bucket, ReadyEvent ready) {
  check_device_bucket(bucket, ready);
  nccl::check(cudaStreamWaitEvent(stream_.get(), static_cast<cudaEvent_t>(ready), 0), "cudaStreamWaitEvent");
  begun_ = true;
  clock_.begin_bucket();
  comm_->average(bucket, stream_.get());
  clock_.end_bucket(bucket.bytes());
}

bool NcclReducer::end_step() {
  if (!std::exchange(begun_, false)) return false;
  clock_.end_step();
  nccl::check(cudaEventRecord(done_.get(), stream_.get()), "cudaEventRecord");
  return true;
}

void NcclReducer::join(DeviceStream stream) {
  if (!end_step()) return;
  nccl::check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), done_.get(), 0), "cudaStreamWaitEvent");
}

void NcclReducer::wait() {
  if (!end_step()) return;
  for (cudaError_t state = cudaEventQuery(done_.get()); state != cudaSuccess; state = cudaEventQuery(done_.get())) {
    if (state != cudaErrorNotReady) nccl::check(state, "the averaging of gradients");
    static_cast<void>(cudaGetLastError());  // clears "not ready", which the next check of a launch would find
    comm_->check();
    sleep_until_s(now_s() + kNapS);
  }
}

}  // namespace chexbench::comm::nccl
