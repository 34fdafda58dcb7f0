#include <fmt/format.h>

#include <vector>

#include "core/errors.hpp"
#include "engine/emulated/emulated.hpp"
#include "engine/engine.hpp"
#include "engine/none/none.hpp"
#include "engine/onednn/onednn_engine.hpp"
#include "spec/profile.hpp"

namespace chexbench::engine {
namespace {

constexpr std::string_view kEmulated = "emulated:";

}  // namespace

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineConfig& config) {
  const std::string resolved = resolve_engine_name(name);
  if (resolved == "none") return make_none_engine();
  if (resolved == "onednn") return make_onednn_engine(config);
  if (resolved.starts_with(kEmulated)) return make_emulated_engine(resolved.substr(kEmulated.size()), config);
  std::vector<std::string> known{"auto", "onednn", "none"};
  for (const std::string& profile : spec::profile_names()) known.push_back(std::string(kEmulated) + profile);
  throw SpecError(fmt::format("engine: unknown engine '{}'{}", name, suggestion(name, known)));
}

std::string resolve_engine_name(const std::string& name) {
  if (name != "auto") return name;
  if (has_onednn()) return "onednn";
  throw DeviceError(
      "engine: 'auto' finds nothing to train on, as this build has no oneDNN; install libdnnl-dev and build again, or "
      "ask for 'none' or 'emulated:<profile>'");
}

}  // namespace chexbench::engine
