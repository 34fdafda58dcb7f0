// The JSON words for the values of each enum of a spec.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the values of an enum with their words, in the order in which they are shown. The table is valid until the
// program ends. Thread-safe.
template <NamedEnum Enum>
std::span<const std::pair<Enum, std::string>> named_values();

}  // namespace chexbench::spec
