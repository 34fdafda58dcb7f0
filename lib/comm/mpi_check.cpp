#include "comm/mpi_check.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "comm/mpi_library.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

void check_mpi(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi().error_string(code, text, &length);
  throw DeviceError(fmt::format("comm: {} failed: {}", what, std::string_view(text, static_cast<std::size_t>(length))));
}

}  // namespace chexbench::comm
