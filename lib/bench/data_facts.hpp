// What a trial's data set is, for its report.
#pragma once

#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Reads the conversion's manifest and, where the trial has one split alone, the lists of both: a second on a large
// set.
results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset);

}  // namespace chexbench::bench
