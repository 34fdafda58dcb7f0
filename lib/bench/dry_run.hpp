// What a run would do, without doing it.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "report/record.hpp"

namespace chexbench::bench {

// Every trial of a planned report with its resolved spec and a forecast of the memory a rank's buffers will hold, as
// text for people. Opens data sets, builds no engine and decodes nothing. @throws DataError
std::string describe_plan(const report::Report& report, comm::World& world);

}  // namespace chexbench::bench
