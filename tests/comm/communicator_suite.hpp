// What every communicator must do, whatever carries it: one suite, run over the world of one and over MPI on several
// ranks. All ranks run it together, in the same order.
#pragma once

#include <string>

#include "comm/communicator.hpp"

namespace chexbench::comm {

// Registers every case of the suite as a test "name.Case". `communicator` must outlive RUN_ALL_TESTS().
void register_communicator_suite(const std::string& name, Communicator& communicator);

}  // namespace chexbench::comm
