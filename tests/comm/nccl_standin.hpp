// Replacements for libnccl and libcudart without a GPU, linked instead of them: they record their calls, follow a
// script, and keep a device clock that advances by 2 ms with every all-reduce. Device memory is the host's.
#pragma once

#include <nccl.h>

#include <string>
#include <vector>

namespace standin {

struct Script {
  std::string problem;  // why NCCL cannot be loaded
  ncclResult_t async_error = ncclSuccess;
  ncclResult_t all_reduce = ncclSuccess;
  int polls_in_progress = 0;  // how many polls of a communicator find it not ready
  cudaError_t set_device = cudaSuccess;
  bool capturing = false;  // whether every stream is being captured
  int busy_queries = 0;    // how many queries of an event find it not complete
};

// The state of the libraries; not thread-safe.
Script& script();
// The calls so far, oldest first, e.g. "ncclAllReduce type=7 op=4 count=3 comm1 stream1". Handles are numbered in the
// order of their creation. Calls that only query a state are left out.
std::vector<std::string>& calls();
// Resets everything to the initial state.
void reset();

// Creates an event that does not come from the code under test. name() returns the name of any handle.
cudaEvent_t make_event();
std::string name(const void* handle);

// Replays the work captured since the last call of this or of reset(): records and all-reduces, in their order.
// replay_in_part() replays those in [from, to), so that a test can check the state in between.
void replay();
void replay_in_part(std::size_t from, std::size_t to);

}  // namespace standin
