// Takes the place of cuda_module.cpp in a build without cuDNN: every function that needs it throws.
#include "core/errors.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/registry.hpp"
#include "engine/sweeps.hpp"

namespace chexbench::engine {
namespace {

[[noreturn]] void throw_absent(const char* who) {
  throw DeviceError(std::string(who) +
                    ": this build has no cuDNN; install the CUDA toolkit and cuDNN 9, run scripts/setup --cuda, and "
                    "build again");
}

}  // namespace

bool sweep_plans(const PlanSweepOptions&, const std::function<void(const PlanTiming&)>&) { throw_absent("plan-sweep"); }

bool sweep_kernels(const KernelSweepOptions&, const std::function<void(const KernelTiming&)>&) {
  throw_absent("kernel-sweep");
}

std::vector<GpuIdentity> visible_gpus() { throw_absent("engine 'cuda'"); }

namespace cuda {

std::unique_ptr<Engine> make_cuda_engine(const EngineConfig&) { throw_absent("engine 'cuda'"); }

bool has_cuda() { return false; }

}  // namespace cuda
}  // namespace chexbench::engine
