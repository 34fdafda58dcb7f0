// Prints an accelerator profile for people.
#pragma once

#include <string>

#include "report/fitted_table.hpp"
#include "spec/profile.hpp"

namespace chexbench::verbs {

// Returns plain text: the name and the device, then a table with one row for each entry, times in ms. The spread is the
// median absolute deviation of images/s in percent, as far as the profile has it. The table is no wider than `width`
// where it can be made so.
std::string profile_table(const spec::AcceleratorProfile& profile, const report::LineWidth& width = {});

}  // namespace chexbench::verbs
