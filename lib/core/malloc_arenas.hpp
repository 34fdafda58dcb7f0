// How many arenas malloc has for the threads of this process.
#pragma once

namespace chexbench {

// Limits glibc's malloc to one arena per CPU that this process may run on, unless the variable MALLOC_ARENA_MAX already
// sets a number. By default there are up to eight per CPU, each with free memory of its own that no other can use, so
// that the memory of a long run grows for hours. To be called before other threads start.
void limit_malloc_arenas();

}  // namespace chexbench
