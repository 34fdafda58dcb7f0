// A CUDA runtime, cuBLASLt, NCCL and cuDNN plans without a GPU that enforce the rules strictly and run work as late and
// in as strange an order as the rules allow (scheduler.hpp). Linked in place of NVIDIA's libraries, with the real files
// of the engine and of the NCCL reducer. Device memory is the host's; unwritten memory is NaN. Breaches of a rule are
// noted and refused.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "scheduler.hpp"

namespace strict {

inline constexpr int kDevices = 2;
inline constexpr int kDevice = 1;  // the one that a test uses; everything on the other one breaks a rule

// Starts again. Nothing made before may be used any more.
void reset(unsigned seed, bool in_order);
Scheduler& scheduler();
// The breaches since reset(), in words.
std::vector<std::string> violations();

// For work that a launch or a library queues. Returns an error if the stream cannot take it.
cudaError_t enqueue(
    cudaStream_t stream, Work work, const std::function<bool()>& may_run = [] { return true; });
// Notes a broken rule and returns the error.
cudaError_t refuse(cudaError_t error, const std::string& why);

// From now on the other ranks join no all-reduce, so each waits until its communicator is aborted.
void stall_other_ranks();
bool other_ranks_stall();

}  // namespace strict
