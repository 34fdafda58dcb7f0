#include "core/malloc_arenas.hpp"

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace chexbench {

void limit_malloc_arenas() {
  if (std::getenv("MALLOC_ARENA_MAX") != nullptr) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  mallopt(M_ARENA_MAX, std::max(1, CPU_COUNT(&allowed)));
}

}  // namespace chexbench
