// The part of doctor's text about what surrounds a measurement: CPU settings, limits, memory, threads and data.
#pragma once

#include <string>

#include "measure/surroundings.hpp"

namespace chexbench::verbs {

// Returns one line per topic, and leaves out topics about which nothing is known.
std::string surroundings_text(const measure::Surroundings& surroundings);

}  // namespace chexbench::verbs
