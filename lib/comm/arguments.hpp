// Checks that all communicators share, so that a wrong call fails alike on one rank and on many.
#pragma once

namespace chexbench::comm {

// @throws DeviceError unless 0 <= root < world
void check_root(int root, int world);
// @throws DeviceError unless 1 <= ranks <= world
void check_first(int ranks, int world);

}  // namespace chexbench::comm
