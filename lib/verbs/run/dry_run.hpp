// What a run would do, without doing it.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Every trial of a planned report with its resolved spec and a forecast of the memory a rank's buffers will hold, as
// text for people. Opens data sets, builds no engine and decodes nothing. @throws DataError
std::string describe_plan(const results::Report& report, comm::World& world);

}  // namespace chexbench::verbs
