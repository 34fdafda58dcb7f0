#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/emulated/emulated.hpp"
#include "engine/engine.hpp"
#include "engine/none/none.hpp"
#include "engine/onednn/onednn_engine.hpp"
#include "spec/profile.hpp"

namespace chexbench::engine {
namespace {

constexpr std::string_view kEmulated = "emulated:";

// The device file of NVIDIA's driver. Looking for it costs nothing, while loading CUDA takes a tenth of a second.
bool has_gpu_driver() { return std::filesystem::exists("/dev/nvidiactl"); }

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> known{"auto", "cuda", "onednn", "none"};
  for (const std::string& profile : spec::profile_names()) known.push_back(std::string(kEmulated) + profile);
  throw SpecError(fmt::format("engine: unknown engine '{}'{}", name, suggestion(name, known)));
}

}  // namespace

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineConfig& config) {
  const std::string resolved = resolve_engine_name(name);
  if (resolved == "none") return none::make_none_engine(config.training.accumulate_steps);
  if (resolved == "onednn") return onednn::make_onednn_engine(config);
  if (resolved == "cuda") return cuda::make_cuda_engine(config);
  return emulated::make_emulated_engine(resolved.substr(kEmulated.size()), config);
}

bool computes_on_gpu(const std::string& name) { return name == "cuda"; }

std::string resolve_engine_name(const std::string& name) {
  if (name == "none" || name == "cuda" || name.starts_with(kEmulated)) return name;
  if (name != "auto" && name != "onednn") throw_unknown(name);
  if (name == "auto" && cuda::has_cuda() && has_gpu_driver()) return "cuda";
  if (onednn::has_onednn()) return "onednn";
  throw DeviceError(
      fmt::format("engine: '{}' finds nothing to train on, as this build has no oneDNN; install libdnnl-dev and build "
                  "again, or ask for 'none' or 'emulated:<profile>'",
                  name));
}

}  // namespace chexbench::engine
