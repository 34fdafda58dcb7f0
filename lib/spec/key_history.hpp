// The keys by which older versions know a trial, so that this one can go on with their runs and trainings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the keys that the spec has got since its first version, one list for each version that added some, oldest
// first. Left at its default, each of them means what older versions did.
std::span<const std::vector<std::string>> added_keys();

// Returns trial_key(), and behind it the keys of the same trial in the versions that lacked keys which the trial leaves
// at their defaults, the newest version first. No two different trials share one of them.
std::vector<std::string> trial_keys(const TrialSpec& trial, std::string_view extra = {});

}  // namespace chexbench::spec
