// An accelerator profile for people.
#pragma once

#include <string>

#include "spec/profile.hpp"

namespace chexbench::verbs {

// Plain text: the device, then one line an entry.
std::string profile_table(const spec::AcceleratorProfile& profile);

}  // namespace chexbench::verbs
