// An ncclComm_t that ends as its state demands. Private to this folder.
#pragma once

#include <nccl.h>

#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "comm/nccl/nccl.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm::nccl {

// Aborted as soon as NCCL reports an error, or where an exception ends its life, as the other ranks may be gone or wait
// elsewhere; else destroyed, which waits for them. After an error every function throws it again.
class NcclComm {
 public:
  // Collective. @throws DeviceError
  NcclComm(const NcclId& id, const NcclRank& rank);
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  // A communicator of the first `ranks`; null on the others. Collective. @throws DeviceError
  std::unique_ptr<NcclComm> first(int ranks);
  // Queues the mean over ranks, in place. @throws DeviceError
  void average(const BucketSpan& bucket, cudaStream_t stream);
  // @throws DeviceError where NCCL has found out that a rank, or the way to it, is lost
  void check();

 private:
  NcclComm(ncclComm_t comm, int rank) : comm_(comm), rank_(rank) {}
  void check(ncclResult_t result, const char* what);
  void abort();

  ncclComm_t comm_ = nullptr;
  int rank_ = 0;
  std::jthread aborting_;
  std::string failure_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace chexbench::comm::nccl
