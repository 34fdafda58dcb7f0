// MPI libraries describe themselves at length; reports want a name and a version.
#pragma once

#include <string>
#include <string_view>

namespace chexbench::comm {

// "MPICH Version:\t4.0.2\nMPICH Release date:..." -> "MPICH 4.0.2"; "Open MPI v4.1.4, package: ..." -> "Open MPI
// v4.1.4".
std::string short_library_name(std::string_view description);

}  // namespace chexbench::comm
