// Makes a report of the trials of a sweep, with nothing measured yet.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "spec/sweep.hpp"

namespace chexbench::bench {

// A report with every trial in it and nothing measured yet: `ranks` resolved against the world, engine `auto` against
// this machine, the environment described. @throws SpecError where a trial asks for more ranks than were started
results::Report plan_report(const std::string& experiment, const std::vector<spec::Trial>& trials, comm::World& world);

}  // namespace chexbench::bench
