// The forecast of a trial's memory, as `--dry-run` prints it.
#pragma once

#include <string>

#include "bench/core_layout.hpp"
#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Returns the bytes that engine onednn takes to train the trial's network, about: weights, gradients and the
// optimizer's state, activations and their gradients of a batch. 0 for other engines.
double training_bytes(const spec::TrialSpec& trial);

// Returns the bytes that this process may take: the memory of the machine, or what its control group leaves of that.
double allowed_bytes();

// Returns a table of what a rank holds in host memory, and what its GPU does, and says if that is more than is allowed.
// `process` are the bytes of anonymous memory that the process has with the trial's data set open.
// @throws SpecError as pipeline::forecast_memory() and engine::forecast_device_memory()
// @throws DeviceError if an engine cannot compute the network
std::string memory_text(const results::TrialResult& trial, const dataset::Dataset& dataset,
                        const bench::HostCores& host, double process);

}  // namespace chexbench::verbs
