// Argument checks that all communicators share, so that a wrong call fails in the same way with one rank and with
// many.
#pragma once

#include "core/reducer.hpp"

namespace chexbench::comm {

// @throws DeviceError unless 0 <= root < world
void check_root(int root, int world);
// @throws DeviceError unless 1 <= ranks <= world
void check_first(int ranks, int world);
// @throws DeviceError for an empty bucket
void check_bucket(const BucketSpan& bucket);
// @throws DeviceError if the bucket is empty, or if there is no event that says when it is ready
void check_device_bucket(const BucketSpan& bucket, ReadyEvent ready);

}  // namespace chexbench::comm
