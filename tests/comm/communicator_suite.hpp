// One suite of tests for every implementation of Communicator. It runs over a world of one rank and over MPI on several
// ranks. All ranks run it together, in the same order.
#pragma once

#include <string>

#include "comm/communicator.hpp"

namespace chexbench::comm {

// Registers every case of the suite as a test "name.Case". `communicator` must outlive RUN_ALL_TESTS().
void register_communicator_suite(const std::string& name, Communicator& communicator);

}  // namespace chexbench::comm
