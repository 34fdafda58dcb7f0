// NCCL with only one of several ranks: the gradients of the others are zero, so that an average divides by the number
// of ranks. Accessing a bucket at the wrong time gives another result.
#include <nccl.h>

#include <cstdint>

#include "core/half.hpp"
#include "strict_cuda.hpp"

struct ncclComm {
  int world = 1;
  bool aborted = false;
};

namespace {

template <typename T, typename Widen, typename Narrow>
void divide(void* data, std::size_t count, int world, const Widen& widen, const Narrow& narrow) {
  T* const values = static_cast<T*>(data);
  for (std::size_t i = 0; i < count; ++i) values[i] = narrow(widen(values[i]) / static_cast<float>(world));
}

void average(void* data, std::size_t count, ncclDataType_t type, int world) {
  using namespace chexbench;
  if (type == ncclFloat16)
    return divide<Half>(
        data, count, world, [](Half x) { return to_float(x); }, to_half);
  if (type == ncclBfloat16)
    return divide<BFloat16>(
        data, count, world, [](BFloat16 x) { return to_float(x); }, to_bfloat16);
  divide<float>(
      data, count, world, [](float x) { return x; }, [](float x) { return x; });
}

ncclResult_t refuse(const char* why) {
  strict::refuse(cudaErrorInvalidValue, why);
  return ncclInvalidUsage;
}

}  // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId, int, ncclConfig_t* config) {
  if (config->blocking != 0) return refuse("a communicator that blocks");
  *comm = new ncclComm{.world = ranks};
  return ncclInProgress;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int, ncclComm_t* sub, ncclConfig_t*) {
  *sub = color != NCCL_SPLIT_NOCOLOR ? new ncclComm{.world = comm->world} : nullptr;
  return ncclInProgress;
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  if (comm->aborted) return refuse("an all-reduce of an aborted communicator");
  if (from != to || op != ncclAvg) return refuse("an all-reduce that does not average in place");
  const auto may_run = [comm] { return comm->aborted || !strict::other_ranks_stall(); };
  const cudaError_t error = strict::enqueue(
      stream, [=, world = comm->world] { average(to, count, type, world); }, may_run);
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "the stand-in refuses it"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->aborted = true;  // it is not deleted, because work that is still queued looks at it
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return ncclCommAbort(comm); }
