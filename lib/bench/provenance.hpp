// Determines the origin of a result: the hosts of its ranks, and the libraries that measured and trained.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "measure/machine.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Describes this host, given as `machine`, with its governors and current load. Takes milliseconds.
results::HostState describe_host(const measure::Machine& machine);

// Returns describe_host() of every host, in the order of ranks. Only the rank with `first_of_host` on each host calls
// it. Collective over the world.
// @throws DeviceError if a rank was lost
// @throws SpecError as measure::probe_machine()
std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host);

// Returns the libraries of the ranks, the engines and the decoders, with the versions of those loaded by this process
// so far. Call it after the trials, because engines and decoders load theirs on first use.
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
