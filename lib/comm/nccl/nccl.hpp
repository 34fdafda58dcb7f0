// The interface of NCCL for the rest of comm. The code that needs the library is in a module, which nccl_module.cpp
// loads, so that the program starts on machines without any NVIDIA library.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "core/reducer.hpp"

namespace chexbench::comm {

// An ncclUniqueId, which ranks must share to find each other.
using NcclId = std::array<std::byte, 128>;

struct NcclRank {
  int rank = 0;
  int world = 1;
  int gpu = 0;  // CUDA's index in this process
};

// NCCL's communicator of all ranks. Used by one thread.
class NcclWorld {
 public:
  virtual ~NcclWorld() = default;
  // Returns a reducer over the first `ranks` ranks; null on the other ranks. Collective over all ranks. The reducer
  // may outlive this object.
  // @throws DeviceError if NCCL or CUDA fails
  virtual std::unique_ptr<Reducer> make_reducer(int ranks) = 0;
};

// Returns why this process cannot use NCCL, and the remedy; empty if it can. The first call loads the module.
std::string nccl_problem();

// Returns a new id. One rank makes it and sends it to the others.
// @throws DeviceError if NCCL fails or cannot be used
NcclId make_nccl_id();
// Joins the ranks that share `id`. Collective over them. Makes `rank.gpu` the calling thread's device.
// @throws DeviceError if NCCL or CUDA fails, or NCCL cannot be used
std::unique_ptr<NcclWorld> join_nccl(const NcclId& id, const NcclRank& rank);

}  // namespace chexbench::comm
