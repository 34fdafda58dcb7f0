// Replaces nccl_module.cpp and copies_module.cpp: the stand-ins are linked, and no module is loaded.
#include "comm/device_copies.hpp"
#include "comm/nccl/cuda_copies.hpp"
#include "comm/nccl/nccl_world.hpp"
#include "comm/nccl_standin.hpp"

namespace chexbench::comm {

std::string nccl_problem() { return standin::script().problem; }
NcclId make_nccl_id() { return nccl::make_id(); }
std::unique_ptr<NcclWorld> join_nccl(const NcclId& id, const NcclRank& rank) { return nccl::join(id, rank); }
std::unique_ptr<DeviceCopies> make_device_copies(int gpu) { return nccl::make_cuda_copies(gpu); }

}  // namespace chexbench::comm
