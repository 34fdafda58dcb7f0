// Finds out where a result comes from: the hosts of its ranks, and the libraries that measured and trained.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
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

}  // namespace chexbench::bench
