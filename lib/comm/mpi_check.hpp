// Turns the status of a failed MPI call into an exception.
#pragma once

#include <string_view>

namespace chexbench::comm {

// `code` is the return value of an MPI function.
// @throws DeviceError with `what` and MPI's description if `code` is not MPI_SUCCESS
void check_mpi(int code, std::string_view what);

}  // namespace chexbench::comm
