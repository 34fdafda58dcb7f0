// Prints an accelerator profile for people.
#pragma once

#include <string>

#include "report/text_table.hpp"
#include "spec/profile.hpp"

namespace chexbench::verbs {

// Returns plain text: the name and the device, then a table with one row for each entry, times in ms. The spread is the
// median absolute deviation of images/s in percent, if the profile has it. The table is at most `width` wide where
// possible.
std::string profile_table(const spec::AcceleratorProfile& profile, const report::LineWidth& width = {});

}  // namespace chexbench::verbs
