// The state of the stand-in of the CUDA runtime, shared by its files: strict_cuda.cpp orders work, strict_memory.cpp
// has the memory. A call holds State::mutex.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "strict_cuda.hpp"

namespace strict {

inline constexpr std::size_t kMemoryBytes = std::size_t{8} << 30;

enum class Kind { device, pinned };

struct Range {
  std::size_t bytes = 0;
  Kind kind = Kind::device;
};

struct State {
  std::unique_ptr<Scheduler> scheduler;
  Stream* null_stream = nullptr;
  std::map<const std::byte*, Range> ranges;
  std::set<const void*> destroyed;
  std::deque<std::shared_ptr<GraphBody>> graphs;
  std::vector<std::string> violations;
  std::recursive_mutex mutex;
  bool other_ranks_stall = false;
};

State& state();

inline thread_local int current_device = 0;
inline thread_local cudaError_t last_error = cudaSuccess;
inline thread_local int captures_here = 0;  // that this thread has begun and not ended

inline cudaError_t fail(cudaError_t error) { return last_error = error; }

inline Stream& stream_of(cudaStream_t stream) {
  return stream != nullptr ? *reinterpret_cast<Stream*>(stream) : *state().null_stream;
}
inline Event& event_of(cudaEvent_t event) { return *reinterpret_cast<Event*>(event); }

// Every call begins with this: the error of a device that has failed, or success.
inline cudaError_t begin_call() {
  return state().scheduler->has_failed() ? fail(cudaErrorIllegalAddress) : cudaSuccess;
}

// For calls that make something on the current device. An allocation may wait for the device, so a capture forbids it.
cudaError_t make_something(const char* what, bool allocates = false);
// As begin_call(), for calls about something that may have been destroyed.
cudaError_t check_live(const void* handle, const char* what);

}  // namespace strict
