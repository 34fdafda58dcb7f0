// The part of doctor's text that tells what surrounds a measurement.
#pragma once

#include <string>

#include "measure/surroundings.hpp"

namespace chexbench::report {

// A few lines, one a topic; topics of which nothing is known are left out.
std::string surroundings_text(const measure::Surroundings& surroundings);

}  // namespace chexbench::report
