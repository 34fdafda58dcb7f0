// Exchanges texts of any length, and yes or no, between ranks.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace chexbench::comm {

// Returns every rank's text, on every rank, in the order of ranks. Collective.
std::vector<std::string> all_gather(comm::Communicator& communicator, const std::string& text);

// Returns the text of rank 0, on every rank. Collective.
std::string broadcast_text(comm::Communicator& communicator, std::string text);

// Returns the value of rank 0, on every rank. Collective.
bool broadcast_flag(comm::Communicator& communicator, bool value);

}  // namespace chexbench::comm
