// Spreads work over the engine's threads. They are the OpenMP team that oneDNN computes with too, so that each rank has
// only one set of threads.
#pragma once

namespace chexbench::engine::onednn {

// Calls body(i) once for each 0 <= i < count, on any thread and in any order; returns when all calls have returned.
// The body must not throw.
template <typename Body>
void parallel_for(int count, const Body& body) {
#pragma omp parallel for schedule(dynamic) if (count > 1)
  for (int i = 0; i < count; ++i) body(i);
}

// The number of threads that parallel_for() and oneDNN use when they are called from this thread.
int parallel_threads();
// Sets that number for the calling thread; `threads` must be at least 1.
void set_parallel_threads(int threads);

// While it lives, there is one thread for the calling thread.
class OneThread {
 public:
  OneThread() : threads_(parallel_threads()) { set_parallel_threads(1); }
  ~OneThread() { set_parallel_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int threads_;
};

}  // namespace chexbench::engine::onednn
