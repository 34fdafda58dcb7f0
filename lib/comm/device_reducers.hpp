// Chooses how a group of ranks averages gradients in device memory: with NCCL, or in host memory over MPI.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "comm/nccl/nccl.hpp"

namespace chexbench::comm {

// Every communicator has one of these. It makes NCCL's communicator of all ranks at the first call that needs it, and
// keeps it. Used by one thread.
class DeviceReducers {
 public:
  // Implements Communicator::make_device_reducer() for `group`, which must be the same in every call. Throws as it
  // does.
  std::unique_ptr<Reducer> make(Communicator& group, int ranks, const DeviceReducerConfig& config);

 private:
  NcclWorld& nccl_world(Communicator& group, int gpu);

  std::unique_ptr<NcclWorld> nccl_world_;
};

}  // namespace chexbench::comm
