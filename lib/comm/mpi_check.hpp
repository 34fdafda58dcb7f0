// What MPI says of a call that failed.
#pragma once

#include <string_view>

namespace chexbench::comm {

// `code`: what an MPI function returned. @throws DeviceError with `what` and MPI's words where it is no success
void check_mpi(int code, std::string_view what);

}  // namespace chexbench::comm
