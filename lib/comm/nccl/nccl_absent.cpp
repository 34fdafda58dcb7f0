#include "comm/nccl/nccl.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

std::string nccl_problem() {
  return "comm.backend 'nccl': this build has no NCCL; install the CUDA toolkit and NCCL 2 with nccl.h, and build "
         "again, "
         "or take comm.backend=mpi";
}

NcclId make_nccl_id() { throw DeviceError(nccl_problem()); }

std::unique_ptr<NcclWorld> join_nccl(const NcclId&, const NcclRank&) { throw DeviceError(nccl_problem()); }

}  // namespace chexbench::comm
