// Prints an accelerator profile for people.
#pragma once

#include <string>

#include "spec/profile.hpp"

namespace chexbench::verbs {

// Returns plain text: the name and the device, then a table with one row for each entry, times in ms. The spread is the
// median absolute deviation of images/s in percent, as far as the profile has it.
std::string profile_table(const spec::AcceleratorProfile& profile);

}  // namespace chexbench::verbs
