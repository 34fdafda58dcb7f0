// Spreads work over the engine's threads: the same OpenMP team that oneDNN computes with, so that there is one set of
// threads a rank.
#pragma once

namespace chexbench::engine {

// Calls body(i) for 0 <= i < count, each on some thread. The body must not throw.
template <typename Body>
void parallel_for(int count, const Body& body) {
#pragma omp parallel for schedule(dynamic) if (count > 1)
  for (int i = 0; i < count; ++i) body(i);
}

// The threads that parallel_for and oneDNN use when called from this thread.
int parallel_threads();
// Sets that number, for calls from this thread. threads >= 1.
void set_parallel_threads(int threads);

}  // namespace chexbench::engine
