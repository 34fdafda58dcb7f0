#include "comm/nccl/nccl.hpp"
#include "core/errors.hpp"
#include "core/module.hpp"

namespace chexbench::comm {
namespace {

constexpr const char* kOwner = "comm.backend 'nccl'";
constexpr const char* kFile = "libchexbench_nccl.so";

}  // namespace

std::string nccl_problem() {
  try {
    module_symbol(kOwner, kFile, "chexbench_join_nccl");
    return {};
  } catch (const DeviceError& error) {
    return std::string(error.what()) +
           "; install NCCL 2 and the CUDA runtime that this build was made with, or take comm.backend=mpi";
  }
}

NcclId make_nccl_id() {
  NcclId id{};
  reinterpret_cast<void (*)(NcclId&)>(module_symbol(kOwner, kFile, "chexbench_make_nccl_id"))(id);
  return id;
}

std::unique_ptr<NcclWorld> join_nccl(const NcclId& id, const NcclRank& rank) {
  using Join = NcclWorld*(const NcclId&, const NcclRank&);
  auto* const join = reinterpret_cast<Join*>(module_symbol(kOwner, kFile, "chexbench_join_nccl"));
  return std::unique_ptr<NcclWorld>(join(id, rank));
}

}  // namespace chexbench::comm
