// Options that are fine each by itself and make no sense together: errors, never a silent choice.
#pragma once

#include <span>
#include <string>

#include "spec/experiment.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {

// Checks one trial. @throws SpecError naming both options and how to mend it
void check_trial(const Experiment& experiment);

// Checks that an experiment's name can name a folder. @throws SpecError
void check_name(const std::string& name);

// Checks that every swept key has a meaning in every trial. @throws SpecError
void check_axes(const SweepSpec& sweep, std::span<const Trial> trials);

// Checks that `key`, which was stated at `path`, has a meaning in one trial at least. @throws SpecError
void check_stated(const std::string& key, const std::string& path, std::span<const Trial> trials);

}  // namespace chexbench::spec
