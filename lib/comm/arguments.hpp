// Checks that all communicators share, so that a wrong call fails alike on one rank and on many.
#pragma once

#include "core/reducer.hpp"

namespace chexbench::comm {

// @throws DeviceError unless 0 <= root < world
void check_root(int root, int world);
// @throws DeviceError unless 1 <= ranks <= world
void check_first(int ranks, int world);
// @throws DeviceError for an empty bucket
void check_bucket(const BucketSpan& bucket);
// @throws DeviceError for an empty bucket, or where nothing says when it is ready
void check_device_bucket(const BucketSpan& bucket, ReadyEvent ready);

}  // namespace chexbench::comm
