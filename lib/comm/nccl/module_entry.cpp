// Exports the symbols that nccl_module.cpp looks up.
#include "comm/nccl/nccl_world.hpp"

extern "C" void chexbench_make_nccl_id(chexbench::comm::NcclId& id) { id = chexbench::comm::nccl::make_id(); }

extern "C" chexbench::comm::NcclWorld* chexbench_join_nccl(const chexbench::comm::NcclId& id,
                                                           const chexbench::comm::NcclRank& rank) {
  return chexbench::comm::nccl::join(id, rank).release();
}
