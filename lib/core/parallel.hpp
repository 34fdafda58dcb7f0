// Does the same work on many items, on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace chexbench {

// Calls work(worker, item) once for each item in [0, items), on `threads` threads or, if that is 0, one per usable
// core. The calls start in the order of the items. `worker` is the number of the thread that calls, below
// worker_count(items, threads), so that each thread can have buffers of its own. After the first error no further call
// starts, and the error is rethrown once all threads have ended.
// @throws InterruptedError after a signal; also what `work` throws
void parallel_for(std::size_t items, std::size_t threads, const std::function<void(std::size_t, std::size_t)>& work);

// Returns how many threads parallel_for() uses for these arguments, which is at least 1.
std::size_t worker_count(std::size_t items, std::size_t threads);

}  // namespace chexbench
