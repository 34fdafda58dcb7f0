// Words for the comparison of two trials.
#pragma once

#include <string>

#include "analysis/arms.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Returns "A delivers 3.45 x the images/s of B (95 % interval 3.30 to 3.61): 812 against 235", without a full stop, or
// says why it cannot tell.
std::string compared(const Pair& pair);

// Returns the finding of a pair. `base_name` is what its headline calls the base.
results::Finding comparison(const char* kind, const Pair& pair, std::string text, const std::string& base_name);

}  // namespace chexbench::analysis
