// Owns an ncclComm_t and destroys or aborts it, depending on its state. Private to this folder.
#pragma once

#include <nccl.h>

#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "comm/nccl/cuda_copies.hpp"
#include "comm/nccl/nccl.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm::nccl {

// Aborts the communicator as soon as NCCL reports an error, or if an exception ends this object's life, because the
// other ranks may be gone or may be waiting elsewhere. Otherwise the destructor destroys it, which waits for the
// other ranks. After an error every function throws that error again. Used by one thread.
class NcclComm {
 public:
  // Joins the ranks that share `id`, on the current device. Collective.
  // @throws DeviceError if NCCL fails
  NcclComm(const NcclId& id, const NcclRank& rank);
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  // Returns a communicator of the first `ranks` ranks; null on the other ranks. Collective.
  // @throws DeviceError if NCCL fails
  std::unique_ptr<NcclComm> first(int ranks);
  // Queues the averaging over ranks, in place, on `stream`.
  // @throws DeviceError if NCCL fails
  void average(const BucketSpan& bucket, cudaStream_t stream);
  // @throws DeviceError if NCCL has noticed that a rank, or the connection to it, is lost
  void check();
  // Aborts the communicator: its kernels leave the device, and every later call throws DeviceError with that reason.
  void give_up(const std::string& reason);

 private:
  NcclComm(ncclComm_t comm, int rank) : comm_(comm), rank_(rank) {}
  void check(ncclResult_t result, const char* what);
  // Waits until the operation in progress is done; the communicator does not block. @throws DeviceError if it fails or
  // takes too long
  void settle(const char* what);
  void abort();

  ncclComm_t comm_ = nullptr;
  int rank_ = 0;
  std::jthread aborting_;
  std::string failure_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace chexbench::comm::nccl
