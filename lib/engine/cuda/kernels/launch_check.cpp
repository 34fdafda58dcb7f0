#include "engine/cuda/kernels/launch_check.hpp"

#include <string>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {

bool launches_programmatically(int compute_capability, const char* value) {
  constexpr int kFirstCapability = 90;
  const std::string word = value == nullptr ? "on" : value;
  const std::vector<std::string> words{"on", "off"};
  if (word != words[0] && word != words[1]) {
    throw SpecError(std::string("environment variable ") + kProgrammaticLaunchVariable + " cannot be '" + word + "'" +
                    suggestion(word, words));
  }
  return word == "on" && compute_capability >= kFirstCapability;
}

}  // namespace chexbench::engine::cuda::kernels
