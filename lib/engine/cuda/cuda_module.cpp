// Loads the module that needs CUDA, so that the program itself starts on machines without NVIDIA's libraries.
#include "core/module.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/registry.hpp"
#include "engine/sweeps.hpp"

namespace chexbench::engine {
namespace {

constexpr const char* kFile = "libchexbench_cuda.so";
constexpr const char* kEngine = "engine 'cuda'";

}  // namespace

bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing) {
  using Sweep = bool(const PlanSweepOptions&, const std::function<void(const PlanTiming&)>&);
  auto* const sweep = reinterpret_cast<Sweep*>(module_symbol("plan-sweep", kFile, "chexbench_sweep_plans"));
  return sweep(options, on_timing);
}

bool sweep_kernels(const KernelSweepOptions& options, const std::function<void(const KernelTiming&)>& on_timing) {
  using Sweep = bool(const KernelSweepOptions&, const std::function<void(const KernelTiming&)>&);
  auto* const sweep = reinterpret_cast<Sweep*>(module_symbol("kernel-sweep", kFile, "chexbench_sweep_kernels"));
  return sweep(options, on_timing);
}

std::vector<GpuIdentity> visible_gpus() {
  using List = void(std::vector<GpuIdentity>&);
  auto* const list = reinterpret_cast<List*>(module_symbol(kEngine, kFile, "chexbench_visible_gpus"));
  std::vector<GpuIdentity> gpus;
  list(gpus);
  return gpus;
}

namespace cuda {

std::unique_ptr<Engine> make_cuda_engine(const EngineConfig& config) {
  using Make = Engine*(const EngineConfig&);
  auto* const make = reinterpret_cast<Make*>(module_symbol(kEngine, kFile, "chexbench_make_cuda_engine"));
  return std::unique_ptr<Engine>(make(config));
}

bool has_cuda() { return true; }

}  // namespace cuda
}  // namespace chexbench::engine
