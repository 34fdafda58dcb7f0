// NCCL as the rest of this room sees it. What needs the library lies in a module (nccl_module.cpp loads it), so that
// the program starts where no library of NVIDIA is.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "core/reducer.hpp"

namespace chexbench::comm {

// What ranks must share to find each other: an ncclUniqueId.
using NcclId = std::array<std::byte, 128>;

struct NcclRank {
  int rank = 0;
  int world = 1;
  int gpu = 0;  // of those that CUDA shows this process
};

// NCCL's communicator of all ranks. One thread uses it.
class NcclWorld {
 public:
  virtual ~NcclWorld() = default;
  // Averages over the first `ranks`; null on the others. Collective over all ranks. May outlive this.
  // @throws DeviceError where NCCL or CUDA fails
  virtual std::unique_ptr<Reducer> make_reducer(int ranks) = 0;
};

// Why NCCL cannot be used by this process and how to mend it; empty where it can. Loads it at the first call.
std::string nccl_problem();

// @throws DeviceError where NCCL fails, or as nccl_problem() says
NcclId make_nccl_id();
// Collective over the ranks that share `id`. Makes `gpu` the calling thread's device. @throws DeviceError as above
std::unique_ptr<NcclWorld> join_nccl(const NcclId& id, const NcclRank& rank);

}  // namespace chexbench::comm
