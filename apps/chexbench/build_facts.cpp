#include "build_facts.hpp"

#include <algorithm>
#include <iterator>

#include "core/printable.hpp"

namespace chexbench::app {

void add_build_facts(results::Environment& environment, const std::vector<std::string>& command_line) {
  environment.chexbench_version = CHEXBENCH_VERSION;
  environment.revision = CHEXBENCH_REVISION;
  environment.compiler = CHEXBENCH_COMPILER;
  std::ranges::transform(command_line, std::back_inserter(environment.command_line), without_credentials);
}

}  // namespace chexbench::app
