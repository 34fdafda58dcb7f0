#include "storage/http/http_client.hpp"

#include <cstdlib>

namespace chexbench::storage {

std::string environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

}  // namespace chexbench::storage
