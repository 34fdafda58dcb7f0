#include "comm/device_reducers.hpp"

#include <span>

#include "comm/arguments.hpp"
#include "comm/device_copies.hpp"
#include "comm/staged_reducer.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"

namespace chexbench::comm {
namespace {

// Returns whether to use NCCL; all ranks get the same answer. NCCL chooses its own algorithm and sends gradients as
// they are on the GPU, so other schemes and a `comm.gradient_dtype` other than f32 go over MPI.
// @throws DeviceError if NCCL is asked for and this rank lacks it
bool uses_nccl(Communicator& group, const spec::CommSpec& comm) {
  const spec::CommBackend backend = comm.backend;
  if (backend == spec::CommBackend::mpi || comm.update != spec::UpdateScheme::all_reduce) return false;
  if (comm.gradient_dtype != FloatType::f32) return false;
  const std::string problem = nccl_problem();
  if (backend == spec::CommBackend::nccl && !problem.empty()) throw DeviceError(problem);
  double lacking = problem.empty() ? 0 : 1;
  group.all_reduce_sum(std::span(&lacking, 1));
  if (!problem.empty()) log::warning("{}: gradients are averaged in host memory, over MPI", problem);
  return lacking == 0;
}

}  // namespace

std::unique_ptr<Reducer> DeviceReducers::make(Communicator& group, int ranks, const DeviceReducerConfig& config) {
  check_first(ranks, group.world());
  if (ranks == 1) return group.rank() == 0 ? make_single_reducer() : nullptr;
  if (uses_nccl(group, config.comm)) return nccl_world(group, config.gpu).make_reducer(ranks);
  std::unique_ptr<Communicator> members = group.first(ranks);
  if (!members) return nullptr;
  return std::make_unique<StagedReducer>(std::move(members), config.comm, make_device_copies(config.gpu));
}

NcclWorld& DeviceReducers::nccl_world(Communicator& group, int gpu) {
  if (!nccl_world_) {
    NcclId id{};
    if (group.rank() == 0) id = make_nccl_id();
    group.broadcast(id, 0);
    nccl_world_ = join_nccl(id, {.rank = group.rank(), .world = group.world(), .gpu = gpu});
  }
  return *nccl_world_;
}

}  // namespace chexbench::comm
