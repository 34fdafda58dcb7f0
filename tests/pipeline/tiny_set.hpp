// A data set of pictures a few pixels wide, for tests that run pipelines by the hundred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {

// The same pictures as PNG files and as shards. No two pictures are equal, or have the same labels.
class TinySet {
 public:
  // `lengths` is the number of pictures in each shard.
  explicit TinySet(const std::vector<std::size_t>& lengths);
  const dataset::Dataset& of(spec::DataFormat format) const {
    return format == spec::DataFormat::tfrecord ? tfrecord_ : png_;
  }
  std::size_t images() const { return png_.images.size(); }
  const std::string& folder() const { return folder_.path(); }

 private:
  const TempFolder folder_;
  dataset::Dataset png_{.format = spec::DataFormat::images};
  dataset::Dataset tfrecord_{.format = spec::DataFormat::tfrecord};
};

// Whether the number of this process's threads falls to `most`. Waits for that, since the system still lists a joined
// thread for a moment.
bool threads_fall_to(std::size_t most);

}  // namespace chexbench::pipeline::test
