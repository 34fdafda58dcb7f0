// A libnccl and a libcudart without a GPU, linked in their place: they write down what they are asked for, do what a
// script says, and keep a device clock that moves by 2 ms with every all-reduce. Device memory is the host's.
#pragma once

#include <nccl.h>

#include <string>
#include <vector>

namespace standin {

struct Script {
  std::string problem;  // why NCCL cannot be loaded
  ncclResult_t async_error = ncclSuccess;
  ncclResult_t all_reduce = ncclSuccess;
  cudaError_t set_device = cudaSuccess;
  bool capturing = false;  // every stream
  int busy_queries = 0;    // of an event that come too early
};

// All that the libraries know; not thread-safe.
Script& script();
// The calls so far, oldest first, e.g. "ncclAllReduce type=7 op=4 count=3 comm1 stream1". Handles have numbers in the
// order of their making. Calls that ask for a state alone are left out.
std::vector<std::string>& calls();
// Everything as at the start.
void reset();

// An event that somebody else has made, and its name.
cudaEvent_t make_event();
std::string name(const void* handle);

// Replays what was captured since the last call of this or of reset(): records and all-reduces, in their order.
// `from` and `to`: which of them, so that a replay can be looked at half way.
void replay();
void replay_in_part(std::size_t from, std::size_t to);

}  // namespace standin
