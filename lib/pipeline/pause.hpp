// A sleep that a stop request ends early.
#pragma once

#include <stop_token>

namespace chexbench::pipeline {

// Returns after `seconds`, or as soon as a stop is requested. Returns at once if `seconds` is 0 or negative.
// Thread-safe.
void pause(double seconds, const std::stop_token& stop);

}  // namespace chexbench::pipeline
