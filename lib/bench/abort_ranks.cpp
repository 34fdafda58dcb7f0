#include "bench/abort_ranks.hpp"

#include <cstdlib>

#include "comm/launcher.hpp"

namespace chexbench::bench {

void abort_ranks(int exit_code) { comm::abort_ranks(std::getenv, exit_code); }

}  // namespace chexbench::bench
