// Finds out where a result comes from: the hosts of its ranks, and the libraries that measured and trained.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "measure/machine.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Describes this host, which is `machine`, with its governors and its load of now. Takes milliseconds.
results::HostState describe_host(const measure::Machine& machine);

// Returns what describe_host() says on every host, in the order of ranks. Of the ranks of a host, only the one with
// `first_of_host` looks. Collective over the world.
// @throws DeviceError if a rank was lost
// @throws SpecError as measure::probe_machine()
std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host);

// Returns the libraries of the ranks, the engines and the decoders, with the versions of those that this process has
// loaded by now. Call it when the trials have run, because engines and decoders load theirs at first need.
std::vector<measure::LibraryVersion> loaded_libraries(const comm::World& world);

// Describes a trial's data set for its report.

// Counts images, files and bytes. Also reads the cost of the conversion from its manifest and, if the trial uses only
// one split, the lists of both splits to count the patients that they share, which takes a second on a large data set.
// For format synthetic only the counts are filled.
// @throws SpecError if the label table lacks a column that is needed
results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset);

// Returns the files that a trial over the data set reads.
std::vector<std::string> paths_of(const dataset::Dataset& dataset);

}  // namespace chexbench::bench
