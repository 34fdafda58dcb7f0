// Describes a trial's data set for its report.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Counts images, files and bytes. Also reads the cost of the conversion from its manifest and, if the trial uses only
// one split, the lists of both splits to count the patients that they share, which takes a second on a large data set.
// For format synthetic only the counts are filled.
// @throws SpecError if the label table lacks a column that is needed
results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset);

// Returns the files that a trial over the data set reads.
std::vector<std::string> paths_of(const dataset::Dataset& dataset);

}  // namespace chexbench::bench
