// Sleeping that a stop ends.
#pragma once

#include <stop_token>

namespace chexbench::pipeline {

// Returns after `seconds`, at once for 0, or as soon as a stop is requested.
void pause(double seconds, const std::stop_token& stop);

}  // namespace chexbench::pipeline
