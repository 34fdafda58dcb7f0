// Which of the ways to average gradients in device memory a group of ranks takes.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "comm/nccl/nccl.hpp"

namespace chexbench::comm {

// One a communicator: NCCL's communicator of all its ranks is made at the first call that needs it, and kept.
class DeviceReducers {
 public:
  // What Communicator::make_device_reducer() promises, for `group`, the same in every call.
  std::unique_ptr<Reducer> make(Communicator& group, int ranks, const DeviceReducerConfig& config);

 private:
  NcclWorld& nccl_world(Communicator& group, int gpu);

  std::unique_ptr<NcclWorld> nccl_world_;
};

}  // namespace chexbench::comm
