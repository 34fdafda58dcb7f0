// The version of a library, as reports keep it.
#pragma once

#include <optional>
#include <string>

namespace chexbench::measure {

struct LibraryVersion {
  std::string name;                    // "oneDNN", "cuDNN"
  std::optional<std::string> version;  // "9.19.0"; empty if the process has not loaded it, or if it tells none
};

}  // namespace chexbench::measure
