// The keys by which older versions identify a trial, so that this one can continue their runs and trainings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the keys added to the spec since its first version, one list per version that added any, oldest first. The
// default of each one is the behaviour of older versions.
std::span<const std::vector<std::string>> added_keys();

// Returns trial_key(), followed by the keys of the same trial in older versions, which lacked keys that the trial
// leaves at their defaults; newest version first. No two different trials share one of them.
std::vector<std::string> trial_keys(const TrialSpec& trial, std::string_view extra = {});

}  // namespace chexbench::spec
