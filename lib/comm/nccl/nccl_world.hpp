// Implements nccl.hpp with the library itself, inside the module. Private to this folder.
#pragma once

#include <memory>

#include "comm/nccl/nccl.hpp"

namespace chexbench::comm::nccl {

NcclId make_id();
std::unique_ptr<NcclWorld> join(const NcclId& id, const NcclRank& rank);

}  // namespace chexbench::comm::nccl
