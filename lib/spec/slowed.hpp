// Slows down what a spec models, for a scale model (emulation.cores_per_accelerator).
#pragma once

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the same links, over which everything takes `factor` times as long. Pure, like slowed() of an experiment.
CommSpec slowed(CommSpec comm, double factor);

// Returns the experiment with links, shaped stores and planted delays `factor` times as slow, and with a worker for
// each core of the model where there would be one for each core here. Engines slow themselves down
// (engine::EngineConfig::slowdown).
TrialSpec slowed(TrialSpec experiment, double factor);

}  // namespace chexbench::spec
