#include "comm/nccl/nccl_world.hpp"

#include <bit>

#include "comm/nccl/nccl_comm.hpp"
#include "comm/nccl/nccl_reducer.hpp"

namespace chexbench::comm::nccl {
namespace {

class World final : public NcclWorld {
 public:
  World(const NcclId& id, const NcclRank& rank) : world_(rank.world), all_(std::make_shared<NcclComm>(id, rank)) {}

  std::unique_ptr<Reducer> make_reducer(int ranks) override {
    const std::shared_ptr<NcclComm> comm = ranks == world_ ? all_ : all_->first(ranks);
    return comm ? std::make_unique<NcclReducer>(comm, ranks) : nullptr;
  }

 private:
  const int world_;
  const std::shared_ptr<NcclComm> all_;
};

}  // namespace

NcclId make_id() {
  ncclUniqueId id;
  const ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) {
    throw DeviceError(
        fmt::format("NCCL: ncclGetUniqueId failed: {} ({})", ncclGetErrorString(result), ncclGetLastError(nullptr)));
  }
  return std::bit_cast<NcclId>(id);
}

std::unique_ptr<NcclWorld> join(const NcclId& id, const NcclRank& rank) {
  check(cudaSetDevice(rank.gpu), "cudaSetDevice");
  return std::make_unique<World>(id, rank);
}

}  // namespace chexbench::comm::nccl
