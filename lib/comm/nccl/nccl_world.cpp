#include "comm/nccl/nccl_world.hpp"

#include <bit>
#include <utility>

#include "comm/arguments.hpp"
#include "comm/nccl/bucket_clock.hpp"
#include "comm/nccl/nccl_comm.hpp"
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

// Averages buckets in device memory. reduce() and join() only queue work on the device, so a step that calls them can
// be captured into a CUDA graph. wait() polls every 50 us whether the device is done and the ranks are still there; it
// must not be called during a capture. Used by one thread.
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

class World final : public NcclWorld {
 public:
  World(const NcclId& id, const NcclRank& rank) : world_(rank.world), all_(std::make_shared<NcclComm>(id, rank)) {}

  std::unique_ptr<Reducer> make_reducer(int ranks) override {
    const std::shared_ptr<NcclComm> comm = ranks == world_ ? all_ : all_->first(ranks);
    return comm ? std::make_unique<NcclReducer>(comm, ranks) : nullptr;
  }

 private:
  const int world_;
  const std::shared_ptr<NcclComm> all_;
};

}  // namespace

NcclId make_id() {
  ncclUniqueId id;
  const ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) {
    throw DeviceError(
        fmt::format("NCCL: ncclGetUniqueId failed: {} ({})", ncclGetErrorString(result), ncclGetLastError(nullptr)));
  }
  return std::bit_cast<NcclId>(id);
}

std::unique_ptr<NcclWorld> join(const NcclId& id, const NcclRank& rank) {
  check(cudaSetDevice(rank.gpu), "cudaSetDevice");
  return std::make_unique<World>(id, rank);
}

}  // namespace chexbench::comm::nccl
