// A network as `chexbench model` tells of it.
#pragma once

#include <string>

#include "report/network.hpp"

namespace chexbench::bench {

// All fields but the version. @throws SpecError for an unknown name (with the nearest) or an image size that is too
// small for it
report::NetworkSummary summarize_network(const std::string& name, int image_size);

}  // namespace chexbench::bench
