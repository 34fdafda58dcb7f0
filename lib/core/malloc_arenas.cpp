#include "core/malloc_arenas.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "core/affinity.hpp"

namespace chexbench {

void limit_malloc_arenas() {
  if (std::getenv("MALLOC_ARENA_MAX") != nullptr) return;
  mallopt(M_ARENA_MAX, std::max(1, static_cast<int>(usable_cpus().size())));
}

}  // namespace chexbench
