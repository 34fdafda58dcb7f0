// From the trials of a sweep to a report that waits to be filled, and its end.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "report/record.hpp"
#include "spec/sweep.hpp"

namespace chexbench::bench {

// A report with every trial in it and nothing measured yet: `ranks` resolved against the world, engine `auto` against
// this machine, the environment described. @throws SpecError where a trial asks for more ranks than were started
report::Report plan_report(const std::string& experiment, const std::vector<spec::Trial>& trials, comm::World& world);

// Derives the findings from what was measured.
void conclude(report::Report& report);

}  // namespace chexbench::bench
