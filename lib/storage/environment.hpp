// The environment variables from which stores take keys, endpoints and certificates.
#pragma once

#include <functional>
#include <string>

namespace chexbench::storage {

// Returns the value of a variable, or "" if it is not set. Tests pass a fake environment.
using Environment = std::function<std::string(const std::string&)>;

// The Environment of this process. Thread-safe as long as no thread changes the environment.
std::string environment_variable(const std::string& name);

}  // namespace chexbench::storage
