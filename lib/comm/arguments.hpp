// Argument checks that all communicators share, so that a wrong call fails in the same way with one rank and with
// many. Inline, because the program and NCCL's module both use them.
#pragma once

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm {

// @throws DeviceError unless 0 <= root < world
inline void check_root(int root, int world) {
  if (root < 0 || root >= world) throw DeviceError(fmt::format("comm: no rank {} in a group of {}", root, world));
}

// @throws DeviceError unless 1 <= ranks <= world
inline void check_first(int ranks, int world) {
  if (ranks < 1 || ranks > world)
    throw DeviceError(fmt::format("comm: cannot make a group of {} ranks out of {}", ranks, world));
}

// @throws DeviceError for an empty bucket
inline void check_bucket(const BucketSpan& bucket) {
  if (bucket.data == nullptr || bucket.count == 0) throw DeviceError("comm: a bucket to average is empty");
}

// @throws DeviceError if the bucket is empty, or if there is no event that says when it is ready
inline void check_device_bucket(const BucketSpan& bucket, ReadyEvent ready) {
  check_bucket(bucket);
  if (ready == nullptr) throw DeviceError("comm: a bucket in device memory came without the event that marks it ready");
}

}  // namespace chexbench::comm
