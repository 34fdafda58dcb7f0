#include "comm/arguments.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::comm {

void check_root(int root, int world) {
  if (root < 0 || root >= world) throw DeviceError(fmt::format("comm: no rank {} in a group of {}", root, world));
}

void check_first(int ranks, int world) {
  if (ranks < 1 || ranks > world)
    throw DeviceError(fmt::format("comm: cannot make a group of {} ranks out of {}", ranks, world));
}

void check_bucket(const BucketSpan& bucket) {
  if (bucket.data == nullptr || bucket.count == 0) throw DeviceError("comm: a bucket to average is empty");
}

void check_device_bucket(const BucketSpan& bucket, ReadyEvent ready) {
  check_bucket(bucket);
  if (ready == nullptr) throw DeviceError("comm: a bucket in device memory came without the event that marks it ready");
}

}  // namespace chexbench::comm
