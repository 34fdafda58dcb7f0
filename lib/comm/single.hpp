// The world of one rank, in which every collective is the identity.
#pragma once

#include <memory>

#include "comm/communicator.hpp"

namespace chexbench::comm {

std::unique_ptr<World> make_single_world();

}  // namespace chexbench::comm
