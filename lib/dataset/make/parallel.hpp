// The same work on many items, over the cores of the machine.
#pragma once

#include <cstddef>
#include <functional>

namespace chexbench::dataset {

// Calls work(worker, item) once for each item in [0, items), items in order of start, on `threads` threads (0: one a
// usable core); worker < worker_count(items, threads) tells threads apart, for buffers of their own. The first error
// ends the work and is rethrown here. @throws InterruptedError after a signal; whatever `work` throws
void parallel_for(std::size_t items, std::size_t threads, const std::function<void(std::size_t, std::size_t)>& work);

// How many threads parallel_for() would use.
std::size_t worker_count(std::size_t items, std::size_t threads);

}  // namespace chexbench::dataset
