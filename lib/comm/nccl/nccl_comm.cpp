#include "comm/nccl/nccl_comm.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::comm::nccl {
namespace {

// Other ranks may time convolutions for minutes before they join.
constexpr double kMostSettling_s = 600, kNap_s = 1e-3;

ncclDataType_t type_of(FloatType type) {
  switch (type) {
    case FloatType::fp16:
      return ncclFloat16;
    case FloatType::bf16:
      return ncclBfloat16;
    case FloatType::f32:
      break;
  }
  return ncclFloat32;
}

}  // namespace

// The communicator does not block, because a rank that never comes would hold all others in NCCL, deaf to signals.
NcclComm::NcclComm(const NcclId& id, const NcclRank& rank) : rank_(rank.rank) {
  static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  check(ncclCommInitRankConfig(&comm_, rank.world, std::bit_cast<ncclUniqueId>(id), rank.rank, &config),
        "ncclCommInitRankConfig");
  settle("joining the other ranks");
}

NcclComm::~NcclComm() {
  if (comm_ == nullptr) return;
  if (std::uncaught_exceptions() > exceptions_) {
    abort();
  } else {
    ncclCommDestroy(comm_);
  }
}

std::unique_ptr<NcclComm> NcclComm::first(int ranks) {
  check();
  ncclComm_t sub = nullptr;
  const int color = rank_ < ranks ? 0 : NCCL_SPLIT_NOCOLOR;
  check(ncclCommSplit(comm_, color, rank_, &sub, nullptr), "ncclCommSplit");
  settle("ncclCommSplit");
  return sub != nullptr ? std::unique_ptr<NcclComm>(new NcclComm(sub, rank_)) : nullptr;
}

void NcclComm::average(const BucketSpan& bucket, cudaStream_t stream) {
  if (!failure_.empty()) throw DeviceError(failure_);
  // ncclAvg multiplies every rank's floats by 1/ranks before it adds them, so that binary16 sums do not overflow:
  // hostToDevRedOp() in NCCL's src/enqueue.cc turns it into ncclDevPreMulSum (2.28.9). That rules out NVSwitch's
  // in-network sums (ncclNvlsSupported()); only a measurement can show the cost.
  check(ncclAllReduce(bucket.data, bucket.data, bucket.count, type_of(bucket.type), ncclAvg, comm_, stream),
        "ncclAllReduce");
  settle("ncclAllReduce");  // the first one connects the ranks
}

void NcclComm::check() {
  if (!failure_.empty()) throw DeviceError(failure_);
  ncclResult_t state = ncclSuccess;
  check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
  check(state, "the communication between ranks");
}

void NcclComm::settle(const char* what) {
  const double late_s = now_s() + kMostSettling_s;
  for (ncclResult_t state = ncclInProgress;;) {
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, what);
    if (state == ncclSuccess) return;
    throw_if_interrupted();
    if (now_s() > late_s) {
      give_up(fmt::format("NCCL: rank {} waited {} s for other ranks in {}", rank_, kMostSettling_s, what));
      throw DeviceError(failure_);
    }
    sleep_until_s(now_s() + kNap_s);
  }
}

void NcclComm::give_up(const std::string& reason) {
  failure_ = reason;
  abort();
}

void NcclComm::check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  const char* const detail = ncclGetLastError(comm_);
  failure_ = fmt::format("NCCL: {} failed: {}", what, ncclGetErrorString(result));
  if (detail != nullptr && *detail != '\0') failure_ += fmt::format(" ({})", detail);
  failure_ += "; NCCL_DEBUG=WARN in the environment shows more";
  abort();
  throw DeviceError(failure_);
}

// Runs on a separate thread, because ncclCommAbort waits until no CUDA graph contains work of the communicator, and the
// graphs are destroyed only while the caller unwinds. The device leaves the communicator's kernels at once.
void NcclComm::abort() {
  if (comm_ != nullptr) aborting_ = std::jthread([comm = std::exchange(comm_, nullptr)] { ncclCommAbort(comm); });
}

}  // namespace chexbench::comm::nccl
