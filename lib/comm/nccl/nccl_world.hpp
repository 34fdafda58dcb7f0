// What nccl.hpp promises, done by the library itself.
#pragma once

#include <memory>

#include "comm/nccl/nccl.hpp"

namespace chexbench::comm::nccl {

NcclId make_id();
std::unique_ptr<NcclWorld> join(const NcclId& id, const NcclRank& rank);

}  // namespace chexbench::comm::nccl
