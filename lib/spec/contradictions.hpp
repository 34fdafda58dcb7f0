// Checks for options that are each valid but conflict. Such a spec is an error; chexbench never chooses silently.
#pragma once

#include <span>
#include <string>

#include "spec/sweep.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Checks the options of one trial against each other.
// @throws SpecError if two options contradict each other; the message names both and says how to fix it
void check_trial(const TrialSpec& trial);

// Checks that an experiment's name can be the name of a folder: letters, digits, '-', '_' and '.', not beginning with
// '.'.
// @throws SpecError if it cannot
void check_name(const std::string& name);

// Checks that every swept key has an effect in every trial; otherwise trials would be the same. A trial over ready-made
// batches is a single trial and exempt from keys of the input, unless all trials are of this kind.
// @throws SpecError if a key has none; the message names the axis and the trial
void check_axes(const SweepSpec& sweep, std::span<const Trial> trials);

// Checks that `key`, which the spec states at `path` (used in the message), applies to at least one trial. Keys of ops
// are not checked here.
// @throws SpecError if it would be ignored in all trials
void check_stated(const std::string& key, const std::string& path, std::span<const Trial> trials);

}  // namespace chexbench::spec
